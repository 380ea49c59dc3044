import { type ConsumeOptions, type StoredRecord } from '#libs/stream-log/stream-log.js';
import { costOf, type FetchBudget, type Sheddable } from '../../fetch-budget.js';
import { LaneWindow } from '../../lane-window.js';
import { type PartitionId } from '../lane-names.js';
import { type FetchedPartition } from '../wire/protocol.js';
import { storedRecords } from '../records.js';
import { type Commit } from './offsets.js';

export interface KafkaLaneHost {
  /** The lane may have room for more records. */
  wanting(lane: KafkaLane): void;
  committed(lane: KafkaLane): void;
  failed(): void;
  /** See LaneBatch. */
  inDoubt(): Promise<void> | undefined;
}

/** Beginning of a lane for a member that claims it. */
export interface StartOfLane {
  /** The next offset to read. */
  readonly next: number;
  /** The end of the log. */
  readonly end: number;
  /** Leader epoch of the record before `next`; -1 when it is not known. */
  readonly epoch: number;
  /** See LaneStart. */
  readonly incarnation: number;
}

export interface LaneNames extends PartitionId {
  readonly name: string;
  /** Without the prefix. */
  readonly shortTopic: string;
  readonly topicId: string;
}

/** One partition as processed by one consumer. */
export class KafkaLane implements PartitionId, Sheddable {
  readonly window: LaneWindow;
  /** The next offset to fetch. */
  position: number;
  /** The next offset to commit. Everything before it is acknowledged. */
  next: number;
  /** The end of the log, as far as known. */
  end: number;
  /** Not fetched before this time (process uptime, milliseconds), because its leader is moving. */
  notBefore = 0;
  /** Since when brokers do not know the leader epoch that a fetch names (process uptime, milliseconds). */
  epochRefusedSince: number | undefined;
  private handed: number;
  private handedRecords = 0;
  private handedBytes = 0;
  movedAt = performance.now();
  private buffer: StoredRecord[] = [];
  /** Bytes of `buffer` in the budget. */
  private bufferedBytes = 0;
  /** Set while a fetch waits for an acknowledgement or for the handler. */
  private isFull = false;
  /** Set when undelivered records were dropped. */
  private isShed = false;
  /** Leader epochs of the records from an offset on, in order. One entry, unless the leader changed recently. */
  private epochs: { readonly from: number; readonly epoch: number }[];
  private readonly incarnation: number;
  private readonly originId: string;

  readonly name: string;
  readonly topic: string;
  readonly topicId: string;
  readonly partition: number;
  private readonly shortTopic: string;

  constructor(
    { name, shortTopic, topic, topicId, partition }: LaneNames,
    start: StartOfLane,
    options: ConsumeOptions,
    private readonly budget: FetchBudget,
    private readonly host: KafkaLaneHost,
  ) {
    this.name = name;
    this.shortTopic = shortTopic;
    this.topic = topic;
    this.topicId = topicId;
    this.partition = partition;
    this.position = this.next = this.handed = start.next;
    this.end = start.end;
    this.epochs = [{ from: 0, epoch: start.epoch }];
    this.incarnation = start.incarnation;
    this.originId = originIdOf(topicId, start.incarnation);
    this.window = new LaneWindow(name, shortTopic, options, budget, {
      ready: () => this.pump(),
      acknowledged: () => this.hasLess(),
      committed: (offset) => {
        this.next = offset + 1;
        host.committed(this);
      },
      failed: () => host.failed(),
      end: () => this.end,
      inDoubt: () => host.inDoubt(),
    });
  }

  get backlog(): number {
    return this.window.isRevoked ? 0 : Math.max(0, this.end - this.handed) + this.window.unackedCount;
  }

  /** Estimates the size of records not fetched yet from the average of the delivered ones. */
  get unreadBytes(): number {
    if (this.window.isRevoked) return 0;
    const average = this.handedRecords === 0 ? 0 : this.handedBytes / this.handedRecords;
    return Math.round(this.window.unackedBytes + Math.max(0, this.end - this.handed) * average);
  }

  /** The commit of the lane with its holder; `''` for none. */
  commitBy(holder: string): Commit {
    const { topic, topicId, incarnation, partition, next } = this;
    return { topic, topicId, incarnation, partition, next, epoch: this.epochAt(next - 1), holder };
  }

  /** Whether to fetch more records. After false, `wanting` is called once there is room. */
  wantsMore(): boolean {
    if (this.window.isRevoked || this.buffer.length >= this.window.options.maxBatch) return false;
    const held = this.bufferedBytes + this.window.heldBytes;
    this.isFull = this.isShed || (held > 0 && held >= this.budget.share);
    return !this.isFull;
  }

  /** Adds the records of a fetch that began at offset `from`. Returns their bytes in the budget. */
  fetched({ highWatermark, messages, next }: FetchedPartition, from: number): number {
    if (this.window.isRevoked) return 0;
    this.end = Math.max(this.end, highWatermark);
    // Earlier records were dropped in the meantime (`shed`).
    if (from > this.position) return 0;
    if (this.buffer.length === 0) this.movedAt = performance.now();
    let taken = 0;
    for (const record of storedRecords(this.name, this.shortTopic, messages, this.position, this.originId)) {
      this.noteEpoch(record);
      this.buffer.push(record);
      this.position = record.offset + 1;
      taken += costOf(record);
    }
    this.bufferedBytes += taken;
    this.budget.take(taken);
    // A batch may end with offsets without a record for us.
    if (next !== undefined) this.position = Math.max(this.position, next);
    this.pump();
    return taken;
  }

  /** Drops fetched records that cannot be delivered now. They are fetched again after an acknowledgement. */
  shed(): void {
    const [first] = this.buffer;
    if (!first) return;
    this.position = first.offset;
    this.epochs = this.epochs.filter(({ from }, index) => index === 0 || from < first.offset);
    this.clearBuffer();
    this.isShed = true;
  }

  /** Skips records that the log no longer has. */
  skipTo(offset: number): void {
    this.position = offset;
    if (this.buffer.length === 0) this.handed = Math.max(this.handed, offset);
  }

  revoke(): void {
    this.window.revoke();
    this.clearBuffer();
  }

  private clearBuffer(): void {
    this.buffer = [];
    this.budget.give(this.bufferedBytes);
    this.bufferedBytes = 0;
    this.budget.withdraw(this);
  }

  /** Called when a record is acknowledged. */
  private hasLess(): void {
    this.isShed = false;
    if (this.isFull && this.wantsMore()) this.host.wanting(this);
  }

  private noteEpoch({ offset, origin }: StoredRecord): void {
    const newest = this.epochs.at(-1);
    if (origin && newest?.epoch !== origin.epoch) this.epochs.push({ from: offset, epoch: origin.epoch });
  }

  private epochAt(offset: number): number {
    while ((this.epochs[1]?.from ?? Infinity) <= offset) this.epochs.shift();
    return this.epochs[0]?.epoch ?? -1;
  }

  private pump(): void {
    if (!this.window.isFree || this.window.handAgain()) return;
    this.isShed = false;
    const room = this.buffer.length > 0 ? this.window.room() : 0;
    const records = room > 0 ? this.buffer.slice(0, room) : [];
    const fitting = records.slice(0, this.window.fitting(records));
    const last = fitting.at(-1);
    if (last) this.handOver(fitting, last.offset);
    if (this.buffer.length > 0) this.budget.offer(this);
    if (this.wantsMore()) this.host.wanting(this);
  }

  private handOver(records: readonly StoredRecord[], last: number): void {
    this.buffer = this.buffer.slice(records.length);
    this.handed = last + 1;
    this.movedAt = performance.now();
    this.handedRecords += records.length;
    let given = 0;
    for (const record of records) {
      this.handedBytes += record.size;
      given += costOf(record);
    }
    this.bufferedBytes -= given;
    this.budget.give(given);
    if (this.buffer.length === 0) this.budget.withdraw(this);
    this.window.handOver(records);
  }
}

/** Id of the sequence of offsets to which a lane's records belong. */
const originIdOf = (topicId: string, incarnation: number): string =>
  incarnation === 0 ? topicId : `${topicId}/${incarnation}`;
