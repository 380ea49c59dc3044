import { Backoff } from '#libs/async/backoff.js';
import { type ConsumeOptions, type LaneBatch, type StoredRecord } from '#libs/stream-log/stream-log.js';
import { costOf, type FetchBudget } from './fetch-budget.js';

/** Pauses after a rejected batch. */
const PAUSES = { firstMs: 100, longestMs: 10_000 };

/** The lane that the window belongs to. */
export interface WindowHost {
  /** Called when the handler is free again or there is room again: call `pump`. */
  ready(): void;
  /** Called when a record of `bytes` bytes is acknowledged. */
  acknowledged(bytes: number): void;
  /** Called when every record up to this offset is acknowledged. */
  committed(offset: number): void;
  /** The end of the lane, for engines whose lanes may lose it. */
  end?(): number;
  /** See LaneBatch, for engines with several owners. */
  inDoubt?(): Promise<void> | undefined;
  failed(): void;
}

/**
 * Delivers one lane to one consumer. At most one handler runs. Delivered records stay in the window until they and all
 * records before them are acknowledged.
 */
export class LaneWindow {
  /** The handler that is running; `close` waits for it. */
  running: Promise<void> | undefined;
  /** Whether a record was delivered. Otherwise `onRevoked` is not called when the lane is revoked. */
  used = false;
  private revoked = false;
  private detached = false;
  private paused = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly backoff = new Backoff(PAUSES);
  /** Delivered offsets above the committed one, in order. Those before `head` are finished. */
  private window: number[] = [];
  private head = 0;
  /** Size in bytes of each delivered and unacknowledged record, by offset. */
  private readonly unacked = new Map<number, number>();
  unackedBytes = 0;
  /** Bytes of these records in the budget. */
  private held = 0;
  /** Records of a batch whose handler rejected. They are delivered again first. */
  private again: StoredRecord[] = [];
  private full = false;

  constructor(
    readonly lane: string,
    readonly topic: string,
    readonly options: ConsumeOptions,
    private readonly budget: FetchBudget,
    private readonly host: WindowHost,
  ) {}

  get isRevoked(): boolean {
    return this.revoked;
  }

  /** Whether a batch may be delivered now. */
  get isFree(): boolean {
    return !this.running && !this.paused && !this.revoked;
  }

  /** Number of delivered and unacknowledged records. */
  get unackedCount(): number {
    return this.unacked.size;
  }

  /** Number of records that may be delivered now. After 0, `ready` reports new room. */
  room(): number {
    const { maxBatch, maxUnacked } = this.options;
    // Acknowledged records after a gap are repeated after a crash, so their number is bounded too.
    const window = Math.max(1024, 4 * maxUnacked) - (this.window.length - this.head);
    const hasMemory = this.held === 0 || this.held < this.budget.share;
    const room = hasMemory ? Math.min(maxBatch, maxUnacked - this.unacked.size, window) : 0;
    this.full = room <= 0;
    return room;
  }

  /** Bytes of delivered and unacknowledged records in the budget. */
  get heldBytes(): number {
    return this.held;
  }

  /**
   * Number of these records, from the first, that fit into the lane's share of memory; at least one when it holds none.
   */
  fitting(records: readonly StoredRecord[]): number {
    let room = this.budget.share - this.held;
    let count = 0;
    for (const record of records) {
      room -= costOf(record);
      if (room < 0 && (count > 0 || this.held > 0)) break;
      count++;
    }
    if (count < records.length) this.full = true;
    return count;
  }

  /** Delivers the records of a failed handler again, if there are any. */
  handAgain(): boolean {
    if (this.again.length === 0) return false;
    const again = this.again.filter(({ offset }) => this.unacked.has(offset));
    this.again = again.slice(this.options.maxBatch);
    if (again.length > 0) this.hand(again.slice(0, this.options.maxBatch));
    return again.length > 0;
  }

  /** Delivers the lane's next records; the caller passes at most `room()`. */
  handOver(records: readonly StoredRecord[]): void {
    let taken = 0;
    for (const record of records) {
      const { offset, size } = record;
      this.window.push(offset);
      this.unacked.set(offset, size);
      this.unackedBytes += size;
      taken += costOf(record);
    }
    this.held += taken;
    this.budget.take(taken);
    this.hand(records);
  }

  /** Stops delivering. Acknowledgements still count until `detach`. */
  revoke(): void {
    this.revoked = true;
    clearTimeout(this.timer);
  }

  detach(): void {
    this.revoke();
    this.detached = true;
    this.again = [];
    this.unacked.clear();
    this.unackedBytes = 0;
    this.budget.give(this.held);
    this.held = 0;
  }

  private hand(records: readonly StoredRecord[]): void {
    const { host } = this;
    const batch: LaneBatch = {
      lane: this.lane,
      topic: this.topic,
      records,
      ...(host.end && { end: host.end() }),
      ...(host.inDoubt && { inDoubt: () => host.inDoubt?.() }),
      ack: (offset) => this.ack(offset),
      revoked: () => this.revoked,
    };
    this.used = true;
    this.running = this.handle(batch);
  }

  private async handle(batch: LaneBatch): Promise<void> {
    try {
      await this.options.handler(batch);
      this.backoff.reset();
    } catch {
      // The consumer reports its own failure, which is only counted here. The log delivers the records again.
      this.host.failed();
      this.again.push(...batch.records.filter(({ offset }) => this.unacked.has(offset)));
      this.again.sort((a, b) => a.offset - b.offset);
      if (this.again.length > 0) this.pause();
    }
    this.running = undefined;
    this.host.ready();
  }

  private pause(): void {
    if (this.revoked) return;
    this.paused = true;
    this.timer = setTimeout(() => {
      this.paused = false;
      this.host.ready();
    }, this.backoff.next());
  }

  private ack(offset: number): void {
    const bytes = this.unacked.get(offset);
    if (this.detached || bytes === undefined) return;
    this.unacked.delete(offset);
    this.unackedBytes -= bytes;
    const cost = costOf({ size: bytes });
    this.held -= cost;
    this.budget.give(cost);
    this.host.acknowledged(bytes);
    if (this.window[this.head] === offset) this.advance();
    if (this.full) {
      this.full = false;
      this.host.ready();
    }
  }

  private advance(): void {
    let committed = -1;
    for (; this.head < this.window.length; this.head++) {
      const offset = this.window[this.head] ?? -1;
      if (this.unacked.has(offset)) break;
      committed = offset;
    }
    if (this.head > 1024 && this.head * 2 > this.window.length) {
      this.window = this.window.slice(this.head);
      this.head = 0;
    }
    this.host.committed(committed);
  }
}
