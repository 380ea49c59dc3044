import { type LaneBatch, type StoredRecord } from './stream-log.js';

/** The records of one lane that wait for a write. */
export interface GatheredLane {
  readonly lane: string;
  /** Records to fold, in order. */
  records: StoredRecord[];
  /** Number of records left out because newer ones replace their documents. */
  leftOut: number;
  /** Characters of the records' values. */
  chars: number;
  /** Number of records above which those that newer ones replace are left out. */
  shedAt: number;
  /** Offsets of all records, also of those left out. It does not keep the batches, because they keep the values. */
  readonly came: { readonly offsets: readonly number[]; readonly ack: LaneBatch['ack'] }[];
  revoked: LaneBatch['revoked'];
}

export interface GatheringOptions {
  /** How long batches gather before one write, at a low and at a high rate of documents. */
  readonly gatherMs?: number | undefined;
  readonly gatherManyMs?: number | undefined;
  /** Returns the records without those whose documents newer ones replace. */
  readonly newest: (lane: string, records: readonly StoredRecord[]) => readonly StoredRecord[];
  /** Called when a write is due. The write starts with `shift`. */
  readonly onDue: () => void;
}

/** Documents per millisecond from which batches gather for SOME_MS, because a write costs more than its documents. */
const SOME_PER_MS = 0.02;
const SOME_MS = 25;
/** Rate from which writes every `gatherMs` contain several batches anyway. */
const SHARED_PER_MS = 0.25;
/** Rate from which batches gather for `gatherManyMs`, so that only the newest of many documents are written. */
const MANY_PER_MS = 1;
/** Time over which the rate is averaged, so that a burst does not delay later batches. */
const RATE_MS = 500;
/** Most characters of values in one write of several batches. It bounds memory and pauses of the event loop. */
const WRITE_CHARS = 4 << 20;

/** Least number of a lane's records above which replaced ones are left out. */
const LEAST_SHED = 400;

/**
 * Batches of all lanes that wait for one write together. Only the newest records of a busy lane stay in memory. Records
 * that waited for a quarter of a second moved to V8's old generation, 4 MB a second at 5,000 events/s.
 */
export class GatheredBatches {
  private waiting = new Map<string, GatheredLane>();
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  /** Average of documents per millisecond, and the time of the last write. */
  private perMs = 0;
  private wroteAt = performance.now();
  /** Earliest time of the next write, after a failed one. */
  private notBefore = 0;

  constructor(private readonly options: GatheringOptions) {}

  /** Adds a batch. With `atOnce` the write is due now. */
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

  /** Makes a write due now if any batch waits. */
  hurry(): void {
    if (this.waiting.size > 0) this.dueIn(0);
  }

  /** Removes and returns the lanes that fit into one write, at least the first. The next write has the others. */
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

  /** Acknowledges the records of a write, and updates the rate on which the next pauses depend. */
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

  /** Puts back lanes whose write failed. The next write is due after `retryMs`, however urgent it is. */
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

  /** Drops the records of a lane without acknowledging them. */
  drop(lane: string): void {
    this.waiting.delete(lane);
  }

  /** Drops everything, and ignores later batches. */
  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.waiting.clear();
  }

  /** Leaves out replaced records. Does so next at twice what is left, because records of many lists replace few. */
  private shed(waiting: GatheredLane): void {
    const newest = this.options.newest(waiting.lane, waiting.records);
    waiting.leftOut += waiting.records.length - newest.length;
    waiting.records = [...newest];
    waiting.chars = newest.reduce((sum, { value }) => sum + value.length, 0);
    waiting.shedAt = Math.max(LEAST_SHED, 2 * newest.length);
  }

  /**
   * Batches gather longer under load, because a larger write skips documents that are put and removed within it. Reads
   * lag by this time. The pause ends at a multiple of itself on the process's clock, so that several read models are
   * written together.
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
