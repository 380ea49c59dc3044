import { type ConsumeOptions, type LaneBatch, type StoredRecord } from '#libs/stream-log/stream-log.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

/** What the window needs of the lane that it belongs to. */
export interface WindowHost {
  /** The handler is free again, or there is room where there was none: `pump`. */
  ready(): void;
  /** A record of so many bytes. */
  acknowledged(bytes: number): void;
  /** Every record up to this offset is acknowledged. */
  committed(offset: number): void;
  failed(): void;
}

/**
 * The hand-over of one lane to one consumer: at most one handler runs; records handed over stay in the window until
 * they and all before them are acknowledged.
 */
export class LaneWindow {
  /** The handler that runs, for `close`. */
  running: Promise<void> | undefined;
  /** Whether anything was handed over: only then is its consumer told when the lane is taken. */
  used = false;
  private revoked = false;
  private detached = false;
  private paused = false;
  private timer: NodeJS.Timeout | undefined;
  private pauseMs = FIRST_PAUSE_MS;
  /** Offsets handed over and above what is committed, in order; those before `head` are done with. */
  private window: number[] = [];
  private head = 0;
  /** Bytes of each record handed over and not acknowledged, by offset. */
  private readonly unacked = new Map<number, number>();
  unackedBytes = 0;
  /** Records of a batch whose handler rejected, to hand over again first. */
  private again: StoredRecord[] = [];
  private full = false;

  constructor(
    readonly lane: string,
    readonly topic: string,
    readonly options: ConsumeOptions,
    private readonly host: WindowHost,
  ) {}

  get isRevoked(): boolean {
    return this.revoked;
  }

  /** Whether a batch may be handed over now. */
  get isFree(): boolean {
    return !this.running && !this.paused && !this.revoked;
  }

  /** Records handed over and not acknowledged. */
  get unackedCount(): number {
    return this.unacked.size;
  }

  /** How many more records may be handed over now. When none, `ready` tells of room. */
  room(): number {
    const { maxBatch, maxUnacked } = this.options;
    // Acknowledged records above a gap come again after a crash: their number is bounded too.
    const window = Math.max(1024, 4 * maxUnacked) - (this.window.length - this.head);
    const room = Math.min(maxBatch, maxUnacked - this.unacked.size, window);
    this.full = room <= 0;
    return room;
  }

  /** Hands over what a failed handler left, if anything. */
  handAgain(): boolean {
    if (this.again.length === 0) return false;
    const again = this.again.filter(({ offset }) => this.unacked.has(offset));
    this.again = again.slice(this.options.maxBatch);
    if (again.length > 0) this.hand(again.slice(0, this.options.maxBatch));
    return again.length > 0;
  }

  /** Hands over the lane's next records, no more than there is room for. */
  take(records: readonly StoredRecord[]): void {
    for (const { offset, size } of records) {
      this.window.push(offset);
      this.unacked.set(offset, size);
      this.unackedBytes += size;
    }
    this.hand(records);
  }

  /** From now on nothing is handed over; acknowledgements count until `detach`. */
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
  }

  private hand(records: readonly StoredRecord[]): void {
    const batch: LaneBatch = {
      lane: this.lane,
      topic: this.topic,
      records,
      ack: (offset) => this.ack(offset),
      revoked: () => this.revoked,
    };
    this.used = true;
    this.running = this.handle(batch);
  }

  private async handle(batch: LaneBatch): Promise<void> {
    try {
      await this.options.handler(batch);
      this.pauseMs = FIRST_PAUSE_MS;
    } catch {
      // The consumer's failure is its own to report (it is counted here): the log only hands the records over again.
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
    }, this.pauseMs);
    this.pauseMs = Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS);
  }

  private ack(offset: number): void {
    const bytes = this.unacked.get(offset);
    if (this.detached || bytes === undefined) return;
    this.unacked.delete(offset);
    this.unackedBytes -= bytes;
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
