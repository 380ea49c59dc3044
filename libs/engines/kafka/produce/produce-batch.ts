import { type PartitionId } from '../lane-names.js';
import { type ProducerIdentity } from './producer-id.js';
import { type ProduceMessage } from '../wire/protocol.js';

/** A record in flight and its callbacks. */
export interface Outgoing {
  readonly message: ProduceMessage;
  readonly bytes: number;
  /** The same for all records of one call of `publish`. */
  readonly call: object;
  /** Process uptime in milliseconds. */
  readonly since: number;
  /** Called with null when the topic does not exist. */
  readonly done: (offset: number | null) => void;
  readonly failed: (error: Error) => void;
}

const BATCH_BYTES = 1 << 20;
const BATCH_RECORDS = 5_000;

/** Records of one partition that are sent and retried together. The broker absorbs a retry under the same sequence. */
export interface Batch extends PartitionId {
  readonly records: readonly Outgoing[];
  readonly bytes: number;
  /** Set when the batch is first sent. */
  identity?: ProducerIdentity | undefined;
  firstSequence: number;
}

/** Queue of one partition. At most one of its batches is in flight, which keeps the order of calls. */
export class PartitionQueue implements PartitionId {
  private waiting: Outgoing[] = [];
  /** In flight or to be sent again. It goes before the waiting records. */
  batch: Batch | undefined;
  sending = false;
  /** Time of the first refusal of the batch; undefined while there is none. */
  troubledSince: number | undefined;

  constructor(
    readonly topic: string,
    readonly partition: number,
  ) {}

  get isEmpty(): boolean {
    return this.waiting.length === 0 && this.batch === undefined;
  }

  add(record: Outgoing): void {
    this.waiting.push(record);
  }

  /** The batch to send now. */
  next(): Batch {
    if (this.batch) return this.batch;
    let count = 0;
    let bytes = 0;
    for (const record of this.waiting) {
      if (count > 0 && (bytes + record.bytes > BATCH_BYTES || count >= BATCH_RECORDS)) break;
      bytes += record.bytes;
      count++;
    }
    const { topic, partition } = this;
    this.batch = { topic, partition, records: this.waiting.slice(0, count), bytes, firstSequence: -1 };
    this.waiting = this.waiting.slice(count);
    return this.batch;
  }

  /**
   * Removes the batch and the waiting records of the same calls. A later record of a call must not be stored without an
   * earlier one, because the caller publishes both again and a listener would consider the earlier one a repeat
   * (docs/adr/0002).
   */
  refuse(): readonly Outgoing[] {
    const refused = this.batch?.records ?? [];
    const calls = new Set(refused.map(({ call }) => call));
    const behind = this.waiting.filter(({ call }) => calls.has(call));
    this.waiting = this.waiting.filter(({ call }) => !calls.has(call));
    this.batch = undefined;
    return [...refused, ...behind];
  }

  /** Empties the queue and returns its records in order. */
  drain(): readonly Outgoing[] {
    const all = [...(this.batch?.records ?? []), ...this.waiting];
    this.batch = undefined;
    this.waiting = [];
    return all;
  }
}
