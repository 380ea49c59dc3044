import { type LaneOrigin } from './lane-origin.js';

/**
 * The log of the data plane: topics of ordered records. Embedded: SQLite. Distributed: Kafka.
 * Delivers at least once, and records of one key in order. A repeat has the same `id` header.
 */
export interface LogRecord {
  readonly topic: string;
  /** Records with the same key keep their order. */
  readonly key: string;
  /** Short texts that consumers need without parsing `value`. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text, passed on unchanged. */
  readonly value: string;
}

export interface StoredRecord extends LogRecord {
  /** Ordered sequence that contains the record: the topic, or one partition of it. */
  readonly lane: string;
  /** Increases within the lane, from 0, not necessarily by one. Safe integer. */
  readonly offset: number;
  /** Epoch milliseconds of the append. */
  readonly timestamp: number;
  /** Size in bytes of key, headers and value, as the log counts them. */
  readonly size: number;
  /** Undefined where a lane never assigns an offset twice. */
  readonly origin?: LaneOrigin;
}

export interface Retention {
  /** Records older than this may be dropped. */
  readonly ageMs?: number;
  /** Size of a lane above which its oldest records may be dropped. */
  readonly bytes?: number;
  /** Whether a record may be dropped once every group that consumes the topic has committed past it. */
  readonly dropConsumed?: boolean;
}

/** Selects topics by name or by prefix. A prefix also selects topics created later. */
export type TopicSelector = { readonly names: readonly string[] } | { readonly prefix: string };

export interface LaneBatch {
  readonly lane: string;
  readonly topic: string;
  /** At least one record, in order. */
  readonly records: readonly StoredRecord[];
  /** Offset after the lane's last record, as far as known. Undefined where a lane never loses its end. */
  readonly end?: number;
  /**
   * Acknowledges a record whose effects are durable. The order is free, and a repeat is harmless. The group commits up
   * to the first gap. After a crash the log redelivers acknowledged records above a gap, and those whose commit was not
   * written yet.
   */
  readonly ack: (offset: number) => void;
  /**
   * True once the lane is revoked (closed, topic deleted). The consumer must then stop, and acknowledge nothing more.
   */
  readonly revoked: () => boolean;
  /**
   * Undefined while this process certainly owns the lane. After a pause of the process, in which another may have got
   * the lane, returns a promise. It resolves once the owner is known: check `revoked` then. Never rejects. Absent where
   * only one process uses the log.
   */
  readonly inDoubt?: () => Promise<void> | undefined;
}

export interface ConsumeOptions {
  readonly group: string;
  readonly topics: TopicSelector;
  /** Limit on records in one batch. */
  readonly maxBatch: number;
  /** Limit on unacknowledged records of a lane. It bounds memory, and the repeats after a crash. */
  readonly maxUnacked: number;
  /**
   * Resolves when the lane's next batch may come, even while records are unacknowledged. Batches of one lane never
   * overlap. Lanes are independent, so a slow one delays no other. After a rejection the log redelivers the batch's
   * unacknowledged records, with back-off (100 ms to 10 s), and counts it in `failures`.
   */
  readonly handler: (batch: LaneBatch) => Promise<void>;
  /**
   * Called when the log revokes a lane of which it handed over batches: another consumer joined the group, or the topic
   * is deleted. `revoked()` of the batches is already true, and no more records come. The consumer finishes or abandons
   * the records in flight. The log waits for the promise (at most `REVOKE_MS`), commits the acknowledged records, and
   * assigns the lane to another consumer. `close` does not call it.
   */
  readonly onRevoked?: (lane: string) => Promise<void>;
}

/** Longest time that a lane's next owner waits for the previous one to release it. */
export const REVOKE_MS = 10_000;

export interface Consumer {
  /** Stops handing over, waits for running handlers and writes the last commits. */
  close(): Promise<void>;
  /**
   * Number of unacknowledged records (handed over or not) in the group's lanes that this process owns. Cheap, and up to
   * a second old. `lag` counts the whole group.
   */
  backlog(): number;
  /** Same as `backlog`, of one lane; 0 when unknown. */
  backlogOf(lane: string): number;
  /**
   * Approximate bytes (keys, headers and values) of the records that `backlogOf` counts; 0 when unknown. An engine that
   * does not know the size of records before it hands them over estimates it from earlier ones.
   */
  unreadBytesOf(lane: string): number;
  /** Number of handler rejections since the start. */
  failures(): number;
}

/**
 * Receives the outcome of the record at `index` of a call: its offset, null when its topic does not exist, or the
 * reason why it may not be durable. Must neither throw nor wait.
 */
export type OnSettled = (index: number, outcome: number | null | Error) => void;

export interface PublishOptions {
  /** How long the records may wait to share a write with others. Default: not at all. An engine may wait less. */
  readonly lingerMs?: number;
}

/** A subscription to live records, until it is closed. */
export interface Tail {
  /** Idempotent. No record arrives after it resolves. */
  close(): Promise<void>;
}

export interface StreamLog {
  /**
   * Idempotent. A repeat sets the retention. `partitions` (default 1) asks for that number of lanes, among which keys
   * are distributed. An engine may create fewer (embedded: one), and a repeat never changes them.
   */
  createTopic(topic: string, retention: Retention, partitions?: number): Promise<void>;
  /** Deletes records and commits too. The lane is revoked from its consumers. Idempotent. */
  deleteTopic(topic: string): Promise<void>;
  topics(prefix: string): Promise<readonly string[]>;
  /** Lists the lanes of a topic, none when it does not exist. A topic of one partition is its own only lane. */
  lanes(topic: string): Promise<readonly string[]>;
  /** Returns the lane of records with this key. Rejects when the topic does not exist. */
  laneOf(topic: string, key: string): Promise<string>;

  /**
   * Resolves when all the records are durable, with the offset of each. A record whose topic does not exist (it was
   * deleted in the meantime) is dropped, and its offset is null. Records of one call keep their order within a lane.
   * Rejects when the log cannot write. Then none (embedded), some or all may be written. In each lane these are the
   * first ones of the call, without a gap.
   */
  publish(records: readonly LogRecord[], options?: PublishOptions): Promise<readonly (number | null)[]>;

  /**
   * Like `publish`, but calls `settled` once for each record, as soon as its outcome is known. So a lane that cannot be
   * written delays only its own records. When a record is not written, no later one of its key in this call is.
   */
  publishEach(records: readonly LogRecord[], settled: OnSettled, options?: PublishOptions): void;

  /** A new group starts at the oldest record. Consumers of one group select the same topics and share the lanes. */
  consume(options: ConsumeOptions): Promise<Consumer>;

  /**
   * Hands over each record published from now on, also on topics created later, to every process that calls it. There
   * is no group and no acknowledgement. Records of one key arrive in order, and one may arrive twice. Resolves once
   * every later publication will be handed over. `onRecords` must neither throw nor wait.
   */
  tail(topics: TopicSelector, onRecords: (records: readonly StoredRecord[]) => void): Promise<Tail>;

  /**
   * Reads records of a lane after an offset (-1: from the oldest), for rebuilds. Affects no group. Returns fewer than
   * `limit` when records are large, and none only at the end of the lane or when it does not exist.
   */
  read(lane: string, after: number, limit: number): Promise<readonly StoredRecord[]>;
  /**
   * Returns an offset above those of all records in the lane at the call, and not above that of any later record.
   * Returns 0 for a lane that does not exist. `laneHistory` reads up to it.
   */
  endOf(lane: string): Promise<number>;

  /** Number of uncommitted records of the group's topics, by lane. Includes topics without a live consumer. */
  lag(group: string, topics: TopicSelector): Promise<Readonly<Record<string, number>>>;
  /** Returns the offset up to which the group has committed each lane of the topic; -1 for none. */
  committed(group: string, topic: string): Promise<Readonly<Record<string, number>>>;
  /** Sets the committed offsets, for moving data between engines. No consumer of the group may be running. */
  setCommitted(group: string, offsets: Readonly<Record<string, number>>): Promise<void>;
}
