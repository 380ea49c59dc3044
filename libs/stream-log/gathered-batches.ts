import { type LaneBatch, type StoredRecord } from './stream-log.js';

/** What waits of one lane. */
export interface GatheredLane {
  readonly lane: string;
  /** To be folded, in order. */
  records: StoredRecord[];
  /** Number of records that were left out, because newer ones replace their documents. */
  leftOut: number;
  /** Characters of the records' values. */
  chars: number;
  /** Number of records at which those that newer ones replace are left out. */
  shedAt: number;
  /** All records that came, also those left out. Not the batches themselves, which hold the values. */
  readonly came: { readonly offsets: readonly number[]; readonly ack: LaneBatch['ack'] }[];
  revoked: LaneBatch['revoked'];
}

export interface GatheringOptions {
  /** Times to gather batches before one write, when few documents arrive and when many do. */
  readonly gatherMs?: number | undefined;
  readonly gatherManyMs?: number | undefined;
  /** Leaves out records whose documents newer ones of these replace. */
  readonly newest: (lane: string, records: readonly StoredRecord[]) => readonly StoredRecord[];
  /** Called when it is time to write, which starts with `shift`. */
  readonly onDue: () => void;
}

/** Documents per millisecond above which it gathers longer, because a write costs more than its documents. */
const SOME_PER_MS = 0.02;
const SOME_MS = 25;
/** And above which writes of `gatherMs` are shared anyway. */
const SHARED_PER_MS = 0.25;
/** And above which only the newest of many are written. */
const MANY_PER_MS = 1;
/** Time over which that rate is averaged, so that a burst does not delay what comes after it. */
const RATE_MS = 500;
/** Limit on characters of values in one write of several batches. It bounds memory and the hold on the event loop. */
const WRITE_CHARS = 4 << 20;

/** Least number of a lane's records at which it looks for those that newer ones replace. */
const LEAST_SHED = 400;

/**
 * Batches of all lanes that wait for one write together. Of a busy lane only the newest records stay in memory: what waited
 * for a quarter of a second moved to V8's old generation, at 5,000 events/s 4 MB a second.
 */
export class GatheredBatches {
  private waiting = new Map<string, GatheredLane>();
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  /** Documents per millisecond, averaged, and the time of the last write. */
  private perMs = 0;
  private wroteAt = performance.now();
  /** Nothing is due before, after a failed write. */
  private notBefore = 0;

  constructor(private readonly options: GatheringOptions) {}

  /** The write of the batch is due now when `atOnce` is true. */
  add({ lane, records, ack, revoked }: LaneBatch, atOnce: boolean): void {
    if (this.isStopped) return;
    let waiting = this.waiting.get(lane);
    if (!waiting) {
      waiting = { lane, records: [], leftOut: 0, chars: 0, shedAt: LEAST_SHED, came: [], revoked };
      this.waiting.set(lane, waiting);
    }
    waiting.revoked = revoked;
    waiting.came.push({ offsets: records.map(({ offset }) => offset), ack });
    for (const record of records) {
      waiting.records.push(record);
      waiting.chars += record.value.length;
    }
    if (waiting.records.length > waiting.shedAt) this.shed(waiting);
    if (atOnce) this.dueIn(0);
    else if (this.timer === undefined) this.dueIn(this.pause());
  }

  /** Makes the batches due now, if there are any. */
  hurry(): void {
    if (this.waiting.size > 0) this.dueIn(0);
  }

  /** Removes and returns the lanes that fit into one write, at least the first. The others are due next. */
  shift(): readonly GatheredLane[] {
    const shifted: GatheredLane[] = [];
    let chars = 0;
    for (const waiting of this.waiting.values()) {
      chars += waiting.chars;
      if (shifted.length > 0 && chars > WRITE_CHARS) break;
      shifted.push(waiting);
      this.waiting.delete(waiting.lane);
    }
    this.hurry();
    return shifted;
  }

  /** Acknowledges the records of a write, and notes its size. The next pauses depend on the rate. */
  wrote(lanes: readonly GatheredLane[], documents: number): void {
    const now = performance.now();
    const elapsed = Math.max(1, now - this.wroteAt);
    const all = lanes.reduce((sum, { leftOut }) => sum + leftOut, documents);
    this.perMs += (all / elapsed - this.perMs) * Math.min(1, elapsed / RATE_MS);
    this.wroteAt = now;
    for (const { came } of lanes) {
      for (const { offsets, ack } of came) for (const offset of offsets) ack(offset);
    }
  }

  /** Puts lanes back whose write failed. The next write is due after `retryMs`, however urgent it is. */
  putBack(lanes: readonly GatheredLane[], retryMs: number): void {
    if (this.isStopped) return;
    const before = this.waiting;
    this.waiting = new Map(lanes.map((waiting) => [waiting.lane, waiting]));
    for (const later of before.values()) {
      const waiting = this.waiting.get(later.lane);
      if (!waiting) this.waiting.set(later.lane, later);
      else {
        waiting.records = [...waiting.records, ...later.records];
        waiting.leftOut += later.leftOut;
        waiting.chars += later.chars;
        waiting.came.push(...later.came);
        waiting.revoked = later.revoked;
      }
    }
    this.notBefore = performance.now() + retryMs;
    this.hurry();
  }

  /** Drops what waits of a lane, without acknowledging it. */
  drop(lane: string): void {
    this.waiting.delete(lane);
  }

  /** Drops everything, and takes no more. */
  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.waiting.clear();
  }

  /** Looks again at twice what is left, so that records of many lists are not looked through each time. */
  private shed(waiting: GatheredLane): void {
    const newest = this.options.newest(waiting.lane, waiting.records);
    waiting.leftOut += waiting.records.length - newest.length;
    waiting.records = [...newest];
    waiting.chars = newest.reduce((sum, { value }) => sum + value.length, 0);
    waiting.shedAt = Math.max(LEAST_SHED, 2 * newest.length);
  }

  /**
   * Gathers longer under load, because larger writes skip documents that come and go within one. Reads lag by it. The time
   * ends at a multiple of itself on the process's clock, so that several read models are written together.
   */
  private pause(): number {
    const { gatherMs = 10, gatherManyMs = 250 } = this.options;
    const { perMs } = this;
    const some = perMs >= SOME_PER_MS && perMs < SHARED_PER_MS ? SOME_MS : gatherMs;
    const every = Math.max(gatherMs, perMs >= MANY_PER_MS ? gatherManyMs : some);
    return every - (performance.now() % every);
  }

  private dueIn(ms: number): void {
    clearTimeout(this.timer);
    const due = (): void => {
      this.timer = undefined;
      this.options.onDue();
    };
    this.timer = setTimeout(due, Math.max(ms, this.notBefore - performance.now()));
  }
}
