import { type Invocation } from './run-commit.js';

/** One tick of a timer runs at a time; those that come meanwhile are one (decisions.md 2.6). */
export class TickCoalescer {
  private readonly timers = new Map<string, { running: boolean; pending: Invocation | undefined }>();

  /** What to do at once: run this tick, or take the one before it for done, which is absorbed by this one. */
  take(tick: Invocation): { readonly run?: Invocation; readonly absorbed?: Invocation } {
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

  /** Returns the tick that is to run next. */
  ended(prop: string): Invocation | undefined {
    const timer = this.timers.get(prop);
    if (!timer) return undefined;
    const next = timer.pending;
    timer.pending = undefined;
    timer.running = next !== undefined;
    return next;
  }
}
