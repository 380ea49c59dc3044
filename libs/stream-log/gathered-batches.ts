import { type LaneBatch } from './stream-log.js';

/** A batch whose handler waits for its write. */
export interface PendingBatch {
  readonly batch: LaneBatch;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export interface GatheringOptions {
  /** Times to gather batches before one write, when few documents arrive and when many do. */
  readonly gatherMs?: number | undefined;
  readonly gatherManyMs?: number | undefined;
  /** Called when it is time to write, which starts with `shift`. */
  readonly onDue: () => void;
}

/** Documents per millisecond above which it gathers longer, because a write costs more than its documents. */
const SOME_PER_MS = 0.02;
const SOME_MS = 25;
/** And above which only the newest of many are written. */
const MANY_PER_MS = 1;
/** Time over which that rate is averaged, so that a burst does not delay what comes after it. */
const RATE_MS = 500;
/** Limit on characters of values in one write of several batches. It bounds memory and the hold on the event loop. */
const WRITE_CHARS = 4 << 20;

/** Batches of all lanes that wait for one write together. */
export class GatheredBatches {
  private pending: PendingBatch[] = [];
  private timer: NodeJS.Timeout | undefined;
  /** Documents per millisecond, averaged, and the time of the last write. */
  private perMs = 0;
  private wroteAt = performance.now();

  constructor(private readonly options: GatheringOptions) {}

  /** Settles with the write of the batch, which is due now when `atOnce` is true. */
  add(batch: LaneBatch, atOnce: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.pending.push({ batch, resolve, reject });
      if (atOnce) this.dueIn(0);
      else if (this.timer === undefined) this.dueIn(this.pause());
    });
  }

  /** Makes the batches due now, if there are any. */
  hurry(): void {
    if (this.pending.length > 0) this.dueIn(0);
  }

  /** Removes and returns the batches that fit into one write, at least the first. */
  shift(): readonly PendingBatch[] {
    return this.pending.splice(0, batchesFor(this.pending, WRITE_CHARS));
  }

  /** Notes the size of a write, with the documents that it did not keep. The next pauses depend on the rate. */
  wrote(documents: number): void {
    const now = performance.now();
    const elapsed = Math.max(1, now - this.wroteAt);
    this.perMs += (documents / elapsed - this.perMs) * Math.min(1, elapsed / RATE_MS);
    this.wroteAt = now;
  }

  /** Rejects all batches. */
  stop(reason: Error): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const { reject } of this.pending.splice(0)) reject(reason);
  }

  /**
   * Gathers longer under load, because larger writes skip documents that come and go within one. Reads lag by it. The time
   * ends at a multiple of itself on the process's clock, so that several read models are written together.
   */
  private pause(): number {
    const { gatherMs = 10, gatherManyMs = 250 } = this.options;
    const least = this.perMs >= MANY_PER_MS ? gatherManyMs : this.perMs >= SOME_PER_MS ? SOME_MS : gatherMs;
    const every = Math.max(gatherMs, least);
    return every - (performance.now() % every);
  }

  private dueIn(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.options.onDue();
    }, ms);
  }
}

const batchesFor = (pending: readonly PendingBatch[], limit: number): number => {
  let chars = 0;
  const tooMany = pending.findIndex(({ batch }, index) => {
    for (const { value } of batch.records) chars += value.length;
    return index > 0 && chars > limit;
  });
  return tooMany < 0 ? pending.length : tooMany;
};
