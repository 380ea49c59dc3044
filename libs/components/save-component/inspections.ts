import { type ComponentInspector } from '../ports.js';

type Inspected = Awaited<ReturnType<ComponentInspector['inspect']>>;

/**
 * Each inspection is a process of its own: the same code posted many times at once is looked at once, and different
 * code at most `atOnce` at a time; the others wait in order.
 */
export class Inspections {
  private readonly underWay = new Map<string, Promise<Inspected>>();
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(private readonly atOnce: number) {}

  /** What is under way for this component, else `inspect` in its turn. */
  of(componentId: string, inspect: () => Promise<Inspected>): Promise<Inspected> {
    const known = this.underWay.get(componentId);
    if (known) return known;
    const started = this.inTurn(inspect).finally(() => this.underWay.delete(componentId));
    this.underWay.set(componentId, started);
    return started;
  }

  private async inTurn(inspect: () => Promise<Inspected>): Promise<Inspected> {
    if (this.running >= this.atOnce) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.running++;
    try {
      return await inspect();
    } finally {
      // The place is handed on, or given back.
      const next = this.waiting.shift();
      if (next) next();
      else this.running--;
    }
  }
}
