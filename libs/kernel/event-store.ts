import { type NewEvent, type Position, type RecordedEvent } from './events.js';

/** The revision that the writer read last, or that the stream must not exist. There is no "any" (docs/adr/0001). */
export type ExpectedRevision = bigint | 'no_stream';

export interface AppendResult {
  /** Revision of the last event of this append. */
  readonly revision: bigint;
  readonly position: Position;
}

/** The stream moved on. Names both revisions; the command may be decided again on the new state. */
export class RevisionConflict extends Error {
  constructor(
    readonly stream: string,
    readonly expected: ExpectedRevision,
    readonly actual: ExpectedRevision,
  ) {
    super(`stream ${stream} is at revision ${actual}, expected ${expected}`);
    this.name = 'RevisionConflict';
  }
}

export interface ReadOptions {
  readonly direction?: 'forwards' | 'backwards';
  /** First revision to return, inclusive. Default: the first (forwards) or the last (backwards). */
  readonly from?: bigint;
  readonly limit?: number;
}

export interface EventBatch {
  /** In log order; empty only to say that the reader has caught up. */
  readonly events: readonly RecordedEvent[];
  /** True when nothing more was in the log at the time of reading. */
  readonly caughtUp: boolean;
  /** Where to resume: position of the last event, or the `after` given when there was none. */
  readonly position: Position;
}

export interface EventStore {
  /**
   * Resolves when all the events are durable, as one unit.
   * Rejects with RevisionConflict when `expected` is not the stream's revision; then nothing was written.
   * A repeat (same event ids, same expected revision) resolves with the first result and writes nothing.
   * An empty list is a programming error and rejects.
   */
  append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult>;

  /** Yields nothing for a stream that does not exist. */
  read(stream: string, options?: ReadOptions): AsyncIterable<RecordedEvent>;

  /** Up to `limit` events after a position, in log order. */
  readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]>;

  /** Position of the newest event, START when the log is empty. */
  lastPosition(): Promise<Position>;

  /**
   * All events after `after`, then live ones, each once and in log order, until `signal` aborts (then the iteration
   * ends without an error). The consumer pulls: a slow one is never overrun. The first batch with `caughtUp` tells
   * that history is read. Loss of the engine's connection is handled inside (resumed from the last position).
   */
  subscribe(after: Position, signal: AbortSignal): AsyncIterable<EventBatch>;
}
