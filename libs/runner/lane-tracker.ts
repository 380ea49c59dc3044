import { type LaneProgress } from './run-journal.js';

/** Tracks the records of a lane that are in flight or done. Gives the progress to store with each commit. */
export class LaneTracker {
  /** Offsets in flight, in order. Done ones at the front are dropped. */
  private readonly out: number[] = [];
  private readonly done = new Set<number>();
  private through: number;

  constructor(progress: LaneProgress) {
    this.through = progress.through;
    for (const offset of progress.above) this.done.add(offset);
  }

  isDone(offset: number): boolean {
    return offset <= this.through || this.done.has(offset);
  }

  /** Admits a record of the lane, in order. Returns false for a redelivery: it is done already or in flight. */
  admit(offset: number): boolean {
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
  finish(offset: number): void {
    if (offset <= this.through) return;
    this.done.add(offset);
    this.advance();
  }

  progress(): LaneProgress {
    return { through: this.through, above: [...this.done].sort((a, b) => a - b) };
  }

  outstanding(): number {
    return this.out.length;
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
