/**
 * Back-pressure at the door: while more work is under way than `limit`, arrivals wait in a bounded queue; those that do
 * not fit, or wait too long, are told to come again. So the latency of what is accepted stays bounded, and memory too.
 */
export class PressureGate {
  private readonly waiting: { readonly resume: (admitted: boolean) => void; readonly until: number }[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    /** Work under way in the whole pipeline, cheap to ask. */
    private readonly underWay: () => number,
    private readonly limit: number,
    private readonly maxWaiting: number,
    private readonly maxWaitMs: number,
    private readonly now: () => number,
  ) {}

  /** True at once when there is room; resolves false when the caller is to be refused (503, Retry-After). */
  enter(): true | Promise<boolean> {
    if (this.waiting.length === 0 && this.underWay() < this.limit) return true;
    if (this.waiting.length >= this.maxWaiting) return Promise.resolve(false);
    return new Promise((resume) => {
      this.waiting.push({ resume, until: this.now() + this.maxWaitMs });
      this.timer ??= setTimeout(() => this.admit(), 1);
    });
  }

  waitingCount(): number {
    return this.waiting.length;
  }

  close(): void {
    clearTimeout(this.timer);
    for (const { resume } of this.waiting.splice(0)) resume(false);
  }

  private admit(): void {
    this.timer = undefined;
    let room = this.limit - this.underWay();
    const now = this.now();
    let done = 0;
    for (const { resume, until } of this.waiting) {
      if (room > 0) {
        room--;
        resume(true);
      } else if (until <= now) resume(false);
      else break;
      done++;
    }
    this.waiting.splice(0, done);
    if (this.waiting.length > 0) this.timer = setTimeout(() => this.admit(), 1);
  }
}
