import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { EMAILS, type TopicPolicy } from '#libs/stream-log/topics.js';

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

/** An entry as it was read because it is due. */
export interface DueRetry extends ScheduledRetry {
  /** Epoch milliseconds since which it is due: `dueAt`, or the end of the last time for which it was handed out. */
  readonly since: number;
  /** How often it was handed out before. */
  readonly handedOut: number;
}

/** An entry whose record is in the log, and the time at which the entry is due again unless it was removed. */
export interface HandOut {
  readonly entry: DueRetry;
  /** Epoch milliseconds. */
  readonly until: number;
}

export interface WaitingHeaders {
  readonly headers: Readonly<Record<string, string>>;
  readonly dueAt: number;
}

/**
 * Durable store of what waits, ordered by due time. A delivery waits until it has ended: while its record is in the log
 * its entry is handed out, and is due again when it stays for too long. A record read twice carries the same ids.
 */
export interface RetrySchedule {
  /** Resolves when durable. An entry that was handed out and is put again is not handed out any more. */
  put(entries: readonly ScheduledRetry[]): Promise<void>;
  /**
   * Reads entries due by `now`, earliest first, except those of some owners; fewer than `limit` when they are large. They
   * stay until removed.
   */
  due(now: number, limit: number, except?: readonly string[]): Promise<readonly DueRetry[]>;
  /**
   * Makes entries due again at a later time, and leaves them waiting with their own due time. Passes over one that was
   * put again, handed out or removed since it was read. A repeat changes nothing.
   */
  handOut(handOuts: readonly HandOut[]): Promise<void>;
  /** Whether an entry waits. */
  has(id: string): Promise<boolean>;
  /** Idempotent. */
  remove(ids: readonly string[]): Promise<void>;
  removeOwner(owner: string): Promise<void>;
  /** When the earliest entry is due, handed out ones included; undefined when empty. */
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
