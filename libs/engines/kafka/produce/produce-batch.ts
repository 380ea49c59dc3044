import { type PartitionId } from '../lane-names.js';
import { type ProducerIdentity } from './producer-id.js';
import { type ProduceMessage } from '../wire/protocol.js';

/** A record on its way, and whom to tell. */
export interface Outgoing {
  readonly message: ProduceMessage;
  readonly bytes: number;
  /** Process uptime in milliseconds. */
  readonly since: number;
  /** null: its topic does not exist. */
  readonly done: (offset: number | null) => void;
  readonly failed: (error: Error) => void;
}

const BATCH_BYTES = 1 << 20;
const BATCH_RECORDS = 5_000;

/** Records of one partition that go, and are repeated, together: a repeat under the same sequence is absorbed. */
export interface Batch extends PartitionId {
  readonly records: readonly Outgoing[];
  readonly bytes: number;
  /** Set when it is sent first. */
  identity?: ProducerIdentity | undefined;
  firstSequence: number;
}

/** What waits for one partition. At most one batch of it is under way, so the order of calls holds. */
export class PartitionQueue implements PartitionId {
  private waiting: Outgoing[] = [];
  /** Sent, or to be sent again: goes before what waits. */
  batch: Batch | undefined;
  sending = false;
  /** Not before this time (process uptime). */
  notBefore = 0;
  /** When it was first found that no broker takes it; undefined while all is well. */
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

  /** All that waits, in order; the queue is empty then. */
  drain(): readonly Outgoing[] {
    const all = [...(this.batch?.records ?? []), ...this.waiting];
    this.batch = undefined;
    this.waiting = [];
    return all;
  }
}
