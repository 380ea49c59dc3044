interface Waiting {
  readonly n: number;
  readonly event: string;
}

/** The runs that the host asked for, started in order, at most `concurrency` at a time. */
export class RunQueue {
  concurrency = 1;
  private waiting: Waiting[] = [];
  private next = 0;
  private running = 0;
  private planned = 0;

  /** `start` gives control to the component; `ended` must be called once for each that it was called with. */
  constructor(private readonly start: (n: number, event: string) => void) {}

  add(runs: readonly (readonly [number, number])[], raw: Buffer): void {
    let at = 0;
    for (const [n, bytes] of runs) {
      this.waiting.push({ n, event: raw.toString('utf8', at, at + bytes) });
      at += bytes;
    }
    this.pump();
  }

  ended(): void {
    this.running--;
    // Not from here: a run that ends at once would nest one stack frame per waiting one.
    if (this.waiting.length > 0) queueMicrotask(this.startNext);
  }

  /** One start per turn, so that what a run leaves to its microtasks is over before another run can block. */
  private pump(): void {
    const free = Math.min(this.concurrency - this.running, this.waiting.length - this.next) - this.planned;
    for (let i = 0; i < free; i++) {
      this.planned++;
      setImmediate(this.startPlanned);
    }
  }

  private readonly startPlanned = (): void => {
    this.planned--;
    this.startNext();
  };

  private readonly startNext = (): void => {
    const first = this.waiting[this.next];
    if (this.running >= this.concurrency || !first) return;
    this.next++;
    if (this.next === this.waiting.length) {
      this.waiting = [];
      this.next = 0;
    }
    this.running++;
    this.start(first.n, first.event);
  };
}
