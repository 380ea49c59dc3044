import { setImmediate as immediate } from 'node:timers/promises';
import { Semaphore } from './semaphore.js';

/**
 * Bounds the work of one kind in a turn of the event loop, in units that the callers count, because users can make it
 * long. Other work runs between the turns. Waiting keys (such as workspaces) alternate, so the many works of one key do
 * not delay those of another.
 */
export class Turns {
  private spent = 0;
  private readonly next = new Semaphore(1);

  /** @param units of work of one turn. The piece that exceeds them may still end. */
  constructor(private readonly units: number) {}

  /** Whether this turn has used its units. The caller then awaits `later`. */
  get isOver(): boolean {
    return this.spent >= this.units;
  }

  /** Counts work of this turn, done or about to be done without a pause. */
  spend(units: number): void {
    if (this.spent === 0) setImmediate(() => (this.spent = 0));
    this.spent += Math.max(1, units);
  }

  /** Resolves in a later turn, in which the caller may go on at once. */
  later(key: string): Promise<void> {
    return this.next.run(key, () => immediate());
  }
}
