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
    if (newest !== undefined && offset <= newest) return false;
    if (offset <= this.through) return false;
    this.out.push(offset);
    if (!this.done.has(offset)) return true;
    // Done before a restart: it only closes its gap.
    this.advance();
    return false;
  }

  finish(offset: number): void {
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
