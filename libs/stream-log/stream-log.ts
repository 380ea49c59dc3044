/**
 * The log of the data plane: topics of ordered records. Embedded: SQLite. Distributed: Kafka.
 * At least once; records of one key in order; a repeat carries the same `id` header.
 */
export interface LogRecord {
  readonly topic: string;
  /** Records of one key keep their order. */
  readonly key: string;
  /** Small, text only: what a consumer needs without parsing `value`. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text, handed on as it is. */
  readonly value: string;
}

export interface StoredRecord extends LogRecord {
  /** The ordered sequence that the record is in: the topic, or one partition of it. */
  readonly lane: string;
  /** Increases within the lane, from 0, not necessarily by one. Safe integer. */
  readonly offset: number;
  /** Epoch milliseconds of the append. */
  readonly timestamp: number;
  /** Bytes of key, headers and value as the log counts them. */
  readonly size: number;
}

export interface Retention {
  /** Records older than this may be dropped. */
  readonly ageMs?: number;
  /** The oldest records may be dropped above this size of a lane. */
  readonly bytes?: number;
  /** True: a record may be dropped as soon as every group that consumes the topic has committed past it. */
  readonly dropConsumed?: boolean;
}

/** Names, or all that start with a prefix, also those created later. */
export type TopicSelector = { readonly names: readonly string[] } | { readonly prefix: string };

export interface LaneBatch {
  readonly lane: string;
  readonly topic: string;
  /** In order, at least one. */
  readonly records: readonly StoredRecord[];
  /**
   * The work of this record is durable elsewhere; it is not to be redelivered. Any order, a repeat is harmless.
   * What is committed is the run of acknowledged records without a gap: after a crash, an acknowledged record above a
   * gap, and one whose commit was not yet written, comes again.
   */
  ack(offset: number): void;
  /** True once the lane is taken from this consumer (closed, topic deleted): stop, and acknowledge no more. */
  revoked(): boolean;
}

export interface ConsumeOptions {
  readonly group: string;
  readonly topics: TopicSelector;
  /** Most records handed over in one batch. */
  readonly maxBatch: number;
  /** Most records of a lane handed over and not yet acknowledged: the bound on memory and on what is repeated. */
  readonly maxUnacked: number;
  /**
   * Resolves when the lane's next batch may come (records may still be unacknowledged). Batches of one lane never
   * overlap; lanes are independent, a slow one delays no other. A rejection hands the unacknowledged records of the
   * batch over again after a pause that grows (100 ms to 10 s), and is counted in `failures`.
   */
  readonly handler: (batch: LaneBatch) => Promise<void>;
  /**
   * A lane of which batches were handed over is taken from this consumer while it lives: another consumer joined the
   * group, or the topic is deleted. `revoked()` of its batches is true already and nothing more is handed over. The
   * log waits for the promise (at most `REVOKE_MS`) before it commits what was acknowledged meanwhile and lets another
   * consumer have the lane: finish or abandon what is in hand. Not called by `close`, which the caller knows of.
   */
  readonly onRevoked?: (lane: string) => Promise<void>;
}

/** Longest that a lane's next owner waits for the former one to let go. */
export const REVOKE_MS = 10_000;

export interface Consumer {
  /** Hands over nothing more, waits for handlers that run, writes the last commits. */
  close(): Promise<void>;
  /**
   * Records not yet acknowledged (handed over or not), in the lanes that this process has of the group. Cheap; may be a
   * second old. Of the whole group: `lag`.
   */
  backlog(): number;
  /** The same, of one lane; 0 when unknown. */
  backlogOf(lane: string): number;
  /**
   * Bytes of the records that `backlogOf` counts, about: keys, headers and values. An engine that does not know what is
   * not yet handed over goes by the size of what was; 0 when unknown.
   */
  unreadBytesOf(lane: string): number;
  /** Handler rejections since the start. */
  failures(): number;
}

export interface StreamLog {
  /**
   * Idempotent; a repeat sets the retention. `partitions` (default 1) asks for that many lanes, over which keys are
   * spread; an engine may give fewer (embedded: one), and a repeat never changes them.
   */
  createTopic(topic: string, retention: Retention, partitions?: number): Promise<void>;
  /** Idempotent. Its records and the groups' commits go with it; consumers see the lane revoked. */
  deleteTopic(topic: string): Promise<void>;
  topics(prefix: string): Promise<readonly string[]>;
  /** The lanes of a topic; none when it does not exist. A topic of one partition is its own only lane. */
  lanes(topic: string): Promise<readonly string[]>;
  /** The lane that records of this key go to. Rejects when the topic does not exist. */
  laneOf(topic: string, key: string): Promise<string>;

  /**
   * Resolves when all the records are durable, with the offset of each; null for a record whose topic does not exist
   * (deleted meanwhile), which is dropped. Records of one call keep their order within a lane.
   * Rejects when the log cannot write: then none, some or all may be there (embedded: none).
   */
  publish(records: readonly LogRecord[]): Promise<readonly (number | null)[]>;

  /** A new group starts at the oldest record. Consumers of one group select the same topics and share the lanes. */
  consume(options: ConsumeOptions): Promise<Consumer>;

  /**
   * Records of a lane after an offset (-1: from the oldest), for rebuilds; does not move any group. Fewer than `limit`
   * when they are large. Empty only at the end of the lane, or when it does not exist.
   */
  read(lane: string, after: number, limit: number): Promise<readonly StoredRecord[]>;

  /** Records of the group's topics not yet committed, by lane. Includes topics with no live consumer. */
  lag(group: string, topics: TopicSelector): Promise<Readonly<Record<string, number>>>;
  /** Offset through which the group has committed each lane of the topic; -1 for none. */
  committed(group: string, topic: string): Promise<Readonly<Record<string, number>>>;
  /** Sets that, for moving data between engines. No consumer of the group may be running. */
  setCommitted(group: string, offsets: Readonly<Record<string, number>>): Promise<void>;
}
