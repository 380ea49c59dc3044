import { type ConsumeOptions, type StoredRecord } from '#libs/stream-log/stream-log.js';
import { type FetchBudget } from '../../fetch-budget.js';
import { LaneWindow } from '../../lane-window.js';
import { type TailCache } from './tail-cache.js';
import { type Topic } from './topic.js';

/** Services of the log and the group for a lane. */
export interface LaneHost {
  readonly tails: TailCache;
  readonly budget: FetchBudget;
  /** Reads the lane's next records from the file in its turn and passes them to `fetched`. */
  fetch(lane: Lane): void;
  /** Pumps the lane once the current work is done. */
  wake(lane: Lane): void;
  acknowledged(lane: Lane): void;
  committed(lane: Lane, offset: number): void;
  failed(): void;
}

/** One topic as processed by one consumer. */
export class Lane {
  /** Number of unacknowledged records, and their bytes. */
  backlog = 0;
  bytes = 0;
  /** Set by the fetcher while the lane waits for its turn. */
  fetching = false;
  readonly window: LaneWindow;
  private readonly roomAgain = (): void => this.host.wake(this);

  /** `position`: every record up to it was delivered or never existed. */
  constructor(
    readonly topic: Topic,
    readonly options: ConsumeOptions,
    public position: number,
    private readonly host: LaneHost,
  ) {
    this.window = new LaneWindow(topic.name, topic.name, options, host.budget, {
      ready: () => host.wake(this),
      acknowledged: (bytes) => {
        this.backlog--;
        this.bytes -= bytes;
        host.acknowledged(this);
      },
      committed: (offset) => host.committed(this, offset),
      failed: () => host.failed(),
    });
  }

  /** Number of records that may be delivered now. After 0 the lane is pumped once there is room. */
  room(): number {
    const room = this.window.room();
    const { budget } = this.host;
    if (room <= 0 || this.window.heldBytes > 0 || budget.free > 0) return Math.max(0, room);
    budget.wait(this.roomAgain);
    return 0;
  }

  /** Delivers the next batch if there is one and the handler is free. */
  pump(): void {
    if (this.fetching || !this.window.isFree || this.window.handAgain()) return;
    if (this.position >= this.topic.lastId) return;
    const room = this.room();
    if (room <= 0) return;
    const records = this.host.tails.read(this.topic, this.position, room);
    if (records) this.handOver(records);
    else this.host.fetch(this);
  }

  /** Delivers the records read from the file, complete up to `position`. */
  fetched(records: readonly StoredRecord[], position: number): void {
    if (this.window.isRevoked) return;
    const isWhole = records.length === 0 || this.handOver(records);
    if (isWhole) this.position = Math.max(this.position, position);
    if (records.length === 0) this.pump();
  }

  /** Stops waiting for room. */
  detach(): void {
    this.host.budget.forget(this.roomAgain);
    this.window.detach();
  }

  /** Returns whether all of them were delivered. Records that do not fit are read again when there is room. */
  private handOver(records: readonly StoredRecord[]): boolean {
    const fitting = this.window.fitting(records);
    const last = records[fitting - 1];
    if (!last) return false;
    this.position = last.offset;
    this.host.tails.trim(this.topic);
    this.window.handOver(fitting === records.length ? records : records.slice(0, fitting));
    return fitting === records.length;
  }
}
