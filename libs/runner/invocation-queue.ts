import { type Invocation } from './invocation.js';
import { TickCoalescer } from './tick-coalescer.js';

/** Invocations of one source that wait for a run, in lane order. Ticks of a timer that has a running one wait apart. */
export class InvocationQueue {
  private readonly waiting: Invocation[] = [];
  private readonly ticks = new TickCoalescer();

  get size(): number {
    return this.waiting.length;
  }

  get first(): Invocation | undefined {
    return this.waiting[0];
  }

  has(offset: number): boolean {
    return this.waiting.some(({ record }) => record.offset === offset);
  }

  /** Adds an invocation from the end of the lane. Returns the earlier tick that it absorbs and that counts as done. */
  add(invocation: Invocation): Invocation | undefined {
    if (invocation.headers.kind !== 'timer') {
      this.waiting.push(invocation);
      return undefined;
    }
    const { run, absorbed } = this.ticks.admit(invocation);
    if (run) this.waiting.push(run);
    return absorbed;
  }

  /** Puts back an invocation that never started, at its place in the lane. */
  putBack(invocation: Invocation): void {
    const at = this.waiting.findIndex((other) => other.record.offset > invocation.record.offset);
    this.waiting.splice(at === -1 ? this.waiting.length : at, 0, invocation);
  }

  /** Notes the end of a run, so that the next tick of its timer may run. */
  runEnded({ headers }: Invocation): void {
    const tick = headers.kind === 'timer' ? this.ticks.ended(headers.prop) : undefined;
    if (tick) this.waiting.push(tick);
  }

  shift(): Invocation | undefined {
    return this.waiting.shift();
  }

  /** Removes and returns the first invocations: at most `limit`, and only those before the first that `stopsAt`. */
  shiftBatch(limit: number, stopsAt: (invocation: Invocation) => boolean): Invocation[] {
    const stop = this.waiting.slice(0, limit).findIndex(stopsAt);
    return this.waiting.splice(0, stop === -1 ? limit : stop);
  }

  /** Removes and returns all invocations that may run. */
  clear(): Invocation[] {
    return this.waiting.splice(0);
  }
}
