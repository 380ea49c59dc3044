import { Condition } from './condition.js';
import { type EventStore } from './event-store.js';
import { START, type Position } from './events.js';
import { type LiveView } from './live-view.js';
import { type ProjectorStatus } from './projection.js';
import { type ReadYourWrites } from './read-your-writes.js';
import { type Upcasters } from './upcasting.js';
import { asError } from './error-message.js';

export interface ViewFollowerOptions {
  readonly events: EventStore;
  readonly upcasters: Upcasters;
  readonly views: readonly LiveView[];
  /** Called after each batch. */
  readonly onApplied?: () => void;
  /** Called once when it stops for good, such as at an event that a view cannot apply. The process must end then. */
  readonly onFailure: (error: Error) => void;
}

/** Feeds the live views of this process with the event log, from the log's start (docs/adr/0007). */
export class ViewFollower implements ReadYourWrites {
  private readonly abort = new AbortController();
  private readonly moved = new Condition();
  private readonly listeners: (() => void)[] = [];
  private following: Promise<void> = Promise.resolve();
  private at: Position = START;
  private caughtUp = false;
  private failure: Error | undefined;

  constructor(private readonly options: ViewFollowerOptions) {}

  /** Resolves when the views contain the events in the log at the call. Rejects when the follower stopped for good. */
  async start(): Promise<void> {
    this.following = this.follow().catch((error: unknown) => {
      this.failure = asError(error);
      this.options.onFailure(this.failure);
      this.tell();
    });
    // The position is read after the reader began, because an engine may find the end of its log by its readers
    // (docs/adr/0013).
    const end = await this.options.events.lastPosition().catch((error: unknown) => {
      this.abort.abort();
      throw error;
    });
    await this.moved.until(() => this.at >= end || this.failure !== undefined);
    if (this.failure) throw this.failure;
  }

  position(): Position {
    return this.at;
  }

  /** Calls the listener after each batch, until it stops. */
  onMoved(listener: () => void): void {
    this.listeners.push(listener);
  }

  status(): ProjectorStatus {
    const status = { name: 'live-views', caughtUp: this.caughtUp, checkpoint: this.at };
    return this.failure ? { ...status, failure: this.failure.message } : status;
  }

  waitFor(position: Position, timeoutMs: number): Promise<boolean> {
    return this.moved.within(timeoutMs, () => this.at >= position);
  }

  /** Resolves when the views contain the events in the log at the call. Rejects after `timeoutMs`. */
  async upToDate(timeoutMs: number): Promise<void> {
    const end = await this.options.events.lastPosition();
    if (!(await this.waitFor(end, timeoutMs))) {
      throw new Error(`the tables in memory have not reached log position ${end} after ${timeoutMs} ms`);
    }
  }

  async stop(): Promise<void> {
    this.abort.abort();
    await this.following;
    this.moved.wake();
  }

  private async follow(): Promise<void> {
    const { events, upcasters, views } = this.options;
    for await (const batch of events.subscribe(START, this.abort.signal)) {
      for (const recorded of batch.events) {
        const event = upcasters.upcast(recorded);
        for (const view of views) view.apply(event);
      }
      this.at = batch.position;
      this.caughtUp = batch.caughtUp;
      this.tell();
    }
    if (!this.abort.signal.aborted) throw new Error(`the event log ended its subscription at position ${this.at}`);
  }

  private tell(): void {
    this.moved.wake();
    this.options.onApplied?.();
    for (const listener of this.listeners) listener();
  }
}
