import { DomainError } from './domain-error.js';
import { type NewEvent, type Position, type RecordedEvent } from './events.js';

/** Revision that the writer read last, or `no_stream` for a new stream. There is no "any" (docs/adr/0001). */
export type ExpectedRevision = bigint | 'no_stream';

export interface AppendResult {
  /** Revision of the last event of this append. */
  readonly revision: bigint;
  readonly position: Position;
}

/** Thrown when the stream has moved on. Names both revisions. The command may be decided again on the new state. */
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

/** Thrown when one append exceeds the log's limit even after the data of its events has been moved to blobs. */
export class AppendTooLarge extends DomainError {
  constructor(
    stream: string,
    readonly actual: number,
    readonly limit: number,
  ) {
    super(
      'request.too_large',
      `the change writes ${actual} bytes of events to ${stream} at once, and the event log takes ${limit}: make it smaller`,
      { actual, limit },
    );
    this.name = 'AppendTooLarge';
  }
}

export interface ReadOptions {
  readonly direction?: 'forwards' | 'backwards';
  /** First revision to return, inclusive. Default: the oldest (forwards) or the newest (backwards). */
  readonly from?: bigint;
  readonly limit?: number;
}

export interface EventBatch {
  /** Events in log order. Empty only in a batch that reports that the reader has caught up. */
  readonly events: readonly RecordedEvent[];
  /**
   * True when the log had no further events at the time of reading, and for the batch that reaches the end that the log
   * had when the reader began.
   */
  readonly caughtUp: boolean;
  /** Position to resume from: that of the last event, or the given `after` when there was none. */
  readonly position: Position;
}

export interface EventStore {
  /**
   * Writes the events atomically and resolves when they are durable. Rejects with RevisionConflict, having written
   * nothing, when `expected` is not the stream's revision. A repeat (same event ids, same expected revision) resolves
   * with the first result and writes nothing. Rejects with AppendTooLarge when the append exceeds the log's limit.
   * Rejects an empty list, which is a programming error.
   */
  append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult>;

  /**
   * Yields nothing for a stream that does not exist. Forwards, it ends where the stream ended at the call or soon
   * after, even while other writers append without a pause.
   */
  read(stream: string, options?: ReadOptions): AsyncIterable<RecordedEvent>;

  /**
   * Reads up to `limit` events after a position, in log order; fewer when they are large, none only at the end.
   * `eventHistory` reads the whole log.
   */
  readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]>;

  /** Returns the position of the newest event, START for an empty log. */
  lastPosition(): Promise<Position>;

  /**
   * Yields all events after `after`, then live ones, each once and in log order. The iteration ends without an error
   * when `signal` aborts. The consumer pulls, so a slow one is never overrun. The first batch with `caughtUp` marks the
   * end that the log had when the iteration began. After a lost connection to the engine it resumes from the last
   * position.
   */
  subscribe(after: Position, signal: AbortSignal): AsyncIterable<EventBatch>;
}
