import { type ConsumeOptions, type LaneBatch, type StoredRecord } from '#libs/stream-log/stream-log.js';
import { type TailCache } from './tail-cache.js';
import { type Topic } from './topic.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

/** What a lane needs of the log and of its group. */
export interface LaneHost {
  readonly tails: TailCache;
  /** Reads the lane's next records from the file and hands them to `fetched`, when its turn comes. */
  fetch(lane: Lane): void;
  /** Pumps the lane once the current work is done. */
  wake(lane: Lane): void;
  acknowledged(lane: Lane): void;
  committed(lane: Lane, offset: number): void;
  failed(): void;
}

/**
 * One topic as one consumer works through it. At most one handler runs; records handed over stay in `window` until
 * they and all before them are acknowledged.
 */
export class Lane {
  backlog = 0;
  /** Set by the fetcher while the lane waits for its turn. */
  fetching = false;
  /** The handler that runs, for `close`. */
  running: Promise<void> | undefined;
  private revoked = false;
  private detached = false;
  private paused = false;
  private timer: NodeJS.Timeout | undefined;
  private pauseMs = FIRST_PAUSE_MS;
  /** Offsets handed over and above what is committed, in order; those before `head` are done with. */
  private window: number[] = [];
  private head = 0;
  private readonly unacked = new Set<number>();
  /** Records of a batch whose handler rejected, to hand over again first. */
  private again: StoredRecord[] = [];
  private full = false;
  /** Whether anything was handed over: only then is its consumer told when the lane is taken. */
  used = false;

  /** `position`: every record up to it was handed over, or was never there. */
  constructor(
    readonly topic: Topic,
    readonly options: ConsumeOptions,
    public position: number,
    private readonly host: LaneHost,
  ) {}

  get isRevoked(): boolean {
    return this.revoked;
  }

  /** How many more records may be handed over now. */
  room(): number {
    const { maxBatch, maxUnacked } = this.options;
    // Acknowledged records above a gap come again after a crash: their number is bounded too.
    const window = Math.max(1024, 4 * maxUnacked) - (this.window.length - this.head);
    return Math.min(maxBatch, maxUnacked - this.unacked.size, window);
  }

  /** Hands over the next batch, if there is one and the handler is free. */
  pump(): void {
    if (this.running || this.paused || this.revoked || this.fetching) return;
    if (this.again.length > 0) {
      const again = this.again.filter(({ offset }) => this.unacked.has(offset));
      this.again = again.slice(this.options.maxBatch);
      if (again.length > 0) {
        this.hand(again.slice(0, this.options.maxBatch));
        return;
      }
    }
    if (this.position >= this.topic.lastId) return;
    const room = this.room();
    this.full = room <= 0;
    if (this.full) return;
    const records = this.host.tails.take(this.topic, this.position, room);
    if (records) this.take(records);
    else this.host.fetch(this);
  }

  /** What was read from the file, complete up to `position`. */
  fetched(records: StoredRecord[], position: number): void {
    if (this.revoked) return;
    if (records.length > 0) this.take(records);
    this.position = Math.max(this.position, position);
    if (records.length === 0) this.pump();
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
  }

  private take(records: StoredRecord[]): void {
    const last = records.at(-1);
    if (!last) return;
    this.position = last.offset;
    this.host.tails.trim(this.topic);
    for (const { offset } of records) {
      this.window.push(offset);
      this.unacked.add(offset);
    }
    this.hand(records);
  }

  private hand(records: StoredRecord[]): void {
    const batch: LaneBatch = {
      lane: this.topic.name,
      topic: this.topic.name,
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
    this.pump();
  }

  private pause(): void {
    if (this.revoked) return;
    this.paused = true;
    this.timer = setTimeout(() => {
      this.paused = false;
      this.pump();
    }, this.pauseMs);
    this.pauseMs = Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS);
  }

  private ack(offset: number): void {
    if (this.detached || !this.unacked.delete(offset)) return;
    this.backlog--;
    this.host.acknowledged(this);
    if (this.window[this.head] === offset) this.advance();
    if (this.full) {
      this.full = false;
      this.host.wake(this);
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
    this.host.committed(this, committed);
  }
}
