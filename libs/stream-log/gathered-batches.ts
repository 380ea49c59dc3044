import { type LaneBatch } from './stream-log.js';

/** A batch whose handler waits for its write. */
export interface PendingBatch {
  readonly batch: LaneBatch;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export interface GatheringOptions {
  /** Times to gather batches before one write, when few records arrive and when many do. */
  readonly gatherMs?: number | undefined;
  readonly gatherManyMs?: number | undefined;
  /** Called when it is time to write, which starts with `shift`. */
  readonly onDue: () => void;
}

/** Records per millisecond above which it gathers longer, because only the newest of many are written. */
const MANY_PER_MS = 1;
/** Limit on characters of values in one write of several batches. It bounds memory and the hold on the event loop. */
const WRITE_CHARS = 4 << 20;

/** Batches of all lanes that wait for one write together. */
export class GatheredBatches {
  private pending: PendingBatch[] = [];
  private timer: NodeJS.Timeout | undefined;
  /** Number of records in the last write, and the pause before it in milliseconds. */
  private written = 0;
  private paused = 10;

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

  /** Notes the size of a write, on which the next pause depends. */
  wrote(records: number): void {
    this.written = records;
  }

  /** Rejects all batches. */
  stop(reason: Error): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const { reject } of this.pending.splice(0)) reject(reason);
  }

  /** Gathers longer under load, because larger writes skip documents that come and go within one. Reads lag by it. */
  private pause(): number {
    const { gatherMs = 10, gatherManyMs = 250 } = this.options;
    this.paused = this.written >= MANY_PER_MS * this.paused ? Math.max(gatherMs, gatherManyMs) : gatherMs;
    return this.paused;
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
