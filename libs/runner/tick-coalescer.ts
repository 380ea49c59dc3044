import { type Invocation } from './invocation.js';

/**
 * Lets one tick of a timer run at a time. Of the ticks that arrive during it only the latest runs next
 * (docs/reference/component-model.md#timer-overlap). No guard against repeats: these ticks have different ids.
 */
export class TickCoalescer {
  private readonly timers = new Map<string, { running: boolean; pending: Invocation | undefined }>();

  /** Returns the tick to run at once, or the earlier tick that this one replaces and that counts as done. */
  admit(tick: Invocation): { readonly run?: Invocation; readonly absorbed?: Invocation } {
    const { prop } = tick.headers;
    const timer = this.timers.get(prop) ?? { running: false, pending: undefined };
    this.timers.set(prop, timer);
    if (!timer.running) {
      timer.running = true;
      return { run: tick };
    }
    const absorbed = timer.pending;
    timer.pending = tick;
    return absorbed ? { absorbed } : {};
  }

  /** Returns the next tick to run. */
  ended(prop: string): Invocation | undefined {
    const timer = this.timers.get(prop);
    if (!timer) return undefined;
    const next = timer.pending;
    timer.pending = undefined;
    timer.running = next !== undefined;
    return next;
  }
}
