import { isHalfFull, type WaitingEvents } from '#libs/component-model/delayed-limits.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type Sandbox } from '#libs/sandbox/index.js';
import { type DelayedEvents } from '#libs/stream-log/delayed-events.js';

/**
 * Age in milliseconds at which a count is read again, because releases and cancellations lower it. A high count is read
 * each time, so that no `$emit` is refused because of a stale one.
 */
const FRESH_MS = 250;

export interface WaitingToldOptions {
  readonly sourceId: string;
  readonly delayed: Pick<DelayedEvents, 'usage'>;
  readonly clock: Clock;
}

/** Tells the process of a source how many of its events wait, so that `$emit` can refuse more. */
export class WaitingTold implements Pick<DelayedEvents, 'usage'> {
  private toldTo: Sandbox | undefined;
  private someMayWait = false;
  private isHigh = false;
  private readAt = 0;

  constructor(private readonly options: WaitingToldOptions) {}

  /** Called by a commit with delayed events. From then on the process must learn of changes. */
  async usage(sourceId: string): Promise<WaitingEvents> {
    this.someMayWait = true;
    const waiting = await this.options.delayed.usage(sourceId);
    this.isHigh = isHalfFull(waiting);
    return waiting;
  }

  /** Call before each group of runs. Undefined when the process has a fresh count; else resolves once it has one. */
  tell(sandbox: Sandbox): Promise<void> | undefined {
    return this.toldTo === sandbox && this.isFresh() ? undefined : this.readAndTell(sandbox);
  }

  private isFresh(): boolean {
    if (!this.someMayWait) return true;
    return !this.isHigh && this.options.clock.now() - this.readAt < FRESH_MS;
  }

  private async readAndTell(sandbox: Sandbox): Promise<void> {
    const { sourceId, delayed, clock } = this.options;
    const waiting = await delayed.usage(sourceId);
    this.someMayWait = waiting.count > 0;
    this.isHigh = isHalfFull(waiting);
    this.readAt = clock.now();
    this.toldTo = sandbox;
    sandbox.tellWaiting(waiting);
  }
}
