import { type LogRecord } from '../stream-log/stream-log.js';

/** A record that waits for its time. */
export interface ScheduledRetry {
  /** Unique; a repeat of `put` replaces. */
  readonly id: string;
  /** What it belongs to (`wh_…`), so that it can be dropped with it. */
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly dueAt: number;
  readonly record: LogRecord;
}

/** Durable, ordered by due time. A waiting record survives a restart; one taken twice carries the same ids. */
export interface RetrySchedule {
  /** Resolves when durable. */
  put(entries: readonly ScheduledRetry[]): Promise<void>;
  /** Earliest first, due at or before `now`; fewer than `limit` when they are large. They stay until removed. */
  due(now: number, limit: number): Promise<readonly ScheduledRetry[]>;
  /** Idempotent. */
  remove(ids: readonly string[]): Promise<void>;
  removeOwner(owner: string): Promise<void>;
  /** Due time of the earliest entry; undefined when empty. */
  nextDueAt(): Promise<number | undefined>;
  countOf(owner: string): Promise<number>;
  /**
   * Bytes of what waits for an owner, each record as JSON in UTF-8. From memory, cheap enough to ask for every emit:
   * exact where one process has the schedule, else about as of the last seconds.
   */
  bytesOf(owner: string): number;
  /** All entries, in any order, for moving an installation. */
  all(): AsyncIterable<ScheduledRetry>;
}
