import { type LogRecord } from '../stream-log/stream-log.js';
import { EMAILS, type TopicPolicy } from '../stream-log/topics.js';

/** A record that waits until it is due. */
export interface ScheduledRetry {
  /** Unique; a repeated `put` replaces the entry. */
  readonly id: string;
  /** Webhook (`wh_…`), subscription with a replay (`sub_…`), or source of an email, that the entry is removed with. */
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly dueAt: number;
  readonly record: LogRecord;
}

/** Topic of an entry's record: a delivery, an email or, of a replay, an invocation. The layout may have changed since. */
export const topicOf = (
  { record: { headers } }: { readonly record: Pick<LogRecord, 'headers'> },
  topics: Pick<TopicPolicy, 'deliveries' | 'invocations'>,
): string => {
  const { webhook, source = '', email } = headers;
  if (email !== undefined) return EMAILS;
  return webhook === undefined ? topics.invocations(source) : topics.deliveries(webhook);
};

export interface WaitingHeaders {
  readonly headers: Readonly<Record<string, string>>;
  readonly dueAt: number;
}

/** Durable store of retries, ordered by due time. A record read twice carries the same ids. */
export interface RetrySchedule {
  /** Resolves when durable. */
  put(entries: readonly ScheduledRetry[]): Promise<void>;
  /**
   * Reads entries due by `now`, earliest first, except those of some owners; fewer than `limit` when they are large. They
   * stay until removed.
   */
  due(now: number, limit: number, except?: readonly string[]): Promise<readonly ScheduledRetry[]>;
  /** Idempotent. */
  remove(ids: readonly string[]): Promise<void>;
  removeOwner(owner: string): Promise<void>;
  /** Due time of the earliest entry; undefined when empty. */
  nextDueAt(): Promise<number | undefined>;
  countOf(owner: string): Promise<number>;
  /** Headers and due times of an owner's entries, in any order. */
  waitingOf(owner: string): Promise<readonly WaitingHeaders[]>;
  /**
   * Bytes of an owner's waiting records, each as JSON in UTF-8. Read from memory, so it is cheap enough for every emit.
   * Exact when one process has the schedule, else a few seconds old.
   */
  bytesOf(owner: string): number;
  /** All entries, in any order, for moving an installation. */
  all(): AsyncIterable<ScheduledRetry>;
}
