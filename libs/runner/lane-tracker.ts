import { isAnotherLog, newestOrigin, type LaneOrigin } from '#libs/stream-log/lane-origin.js';
import { type LaneProgress } from './lane-state.js';

/** Number of done records beyond a gap at which no more start (docs/reference/limits.md#lane-gap). */
export const MOST_ABOVE = 4_096;

/** Position of a record in its lane. */
export interface Place {
  readonly offset: number;
  readonly origin?: LaneOrigin;
}

/** Tracks the records of a lane that are in flight or done. Returns the progress to store with each commit. */
export class LaneTracker {
  /** Offsets in flight, in order. Done ones are removed from the front. */
  private readonly out: number[] = [];
  private readonly done = new Set<number>();
  private through: number;
  /** Highest done offset. */
  private newestDone: number;
  /** Origin of the newest done record. */
  private origin: LaneOrigin | undefined;

  constructor(progress: LaneProgress) {
    this.through = progress.through;
    this.origin = progress.origin;
    for (const offset of progress.above) this.done.add(offset);
    this.newestDone = Math.max(progress.through, ...progress.above);
  }

  isDone(offset: number): boolean {
    return offset <= this.through || this.done.has(offset);
  }

  /**
   * Admits a record of the lane, in order. Returns false for a redelivered record that is done or in flight.
   * @param end the offset after the lane's last record, where it is known.
   */
  admit({ offset, origin }: Place, end = Infinity): boolean {
    const isReused = end <= this.newestDone || isAnotherLog(origin, this.origin);
    if (offset <= this.newestDone && isReused) this.restartAt(offset);
    const newest = this.out.at(-1);
    if (newest !== undefined && offset <= newest) return false;
    if (offset <= this.through) return false;
    this.out.push(offset);
    if (!this.done.has(offset)) return true;
    // It was done before a restart, so it only closes its gap.
    this.advance();
    return false;
  }

  /** Idempotent. */
  finish({ offset, origin }: Place): void {
    if (offset <= this.through) return;
    this.origin = newestOrigin(this.origin, origin);
    this.done.add(offset);
    this.newestDone = Math.max(this.newestDone, offset);
    this.advance();
  }

  progress(): LaneProgress {
    const { through, origin } = this;
    return { through, above: [...this.done].sort((a, b) => a - b), ...(origin && { origin }) };
  }

  /** The progress once these records are done too. */
  progressAfter(places: readonly Place[]): LaneProgress {
    const after = new LaneTracker(this.progress());
    after.newestDone = this.newestDone;
    after.out.push(...this.out);
    for (const place of places) after.finish(place);
    return after.progress();
  }

  /** Offset up to which every record is admitted: it is done or in flight. */
  admittedTo(): number {
    return this.out.at(-1) ?? this.through;
  }

  outstanding(): number {
    return this.out.length;
  }

  /**
   * Returns the offset of the record that must be done before more may start, undefined if there is none. Each commit
   * stores the records that are done beyond it, so their number is bounded.
   */
  heldBy(): number | undefined {
    return this.done.size >= MOST_ABOVE ? this.out[0] : undefined;
  }

  /** The log assigns offsets again from this one on. The records that were done above it are lost. */
  private restartAt(offset: number): void {
    this.through = this.newestDone = offset - 1;
    this.origin = undefined;
    this.done.clear();
    this.out.length = 0;
  }

  private advance(): void {
    let front = this.out[0];
    while (front !== undefined && this.done.delete(front)) {
      this.through = front;
      this.out.shift();
      front = this.out[0];
    }
  }
}
