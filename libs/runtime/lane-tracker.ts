import { type LaneProgress } from './run-journal.js';

/** Which records of a lane are out and which are done: gives the progress to store with each commit. */
export class LaneTracker {
  /** Handed out, in order; the done ones at the front are dropped. */
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

  /** A record came from the lane, in order. False when it is done already, or out: a redelivery. */
  take(offset: number): boolean {
    const newest = this.out.at(-1);
    if (this.isDone(offset)) {
      // A gap of the former run closes as its records come by again.
      if (this.out.length === 0 && this.done.delete(offset)) this.through = offset;
      return false;
    }
    if (newest !== undefined && offset <= newest) return false;
    this.out.push(offset);
    return true;
  }

  finish(offset: number): void {
    this.done.add(offset);
    let front = this.out[0];
    while (front !== undefined && this.done.has(front)) {
      this.through = front;
      this.done.delete(front);
      this.out.shift();
      front = this.out[0];
    }
    // Done ones that lie below were those of a former run between two records that are out.
    if (this.done.size > 0) for (const o of this.done) if (o <= this.through) this.done.delete(o);
  }

  progress(): LaneProgress {
    return { through: this.through, above: [...this.done].sort((a, b) => a - b) };
  }

  outstanding(): number {
    return this.out.length;
  }
}
