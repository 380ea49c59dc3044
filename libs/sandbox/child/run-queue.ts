import { type BodyRange } from '#libs/component-model/http-event.js';
import { type SentRun } from '../protocol/protocol.js';

interface Waiting {
  readonly n: number;
  readonly event: string;
  readonly body: BodyRange | undefined;
}

/** Time after which the process reads from the host before the next run. The host may want unstarted runs back. */
const TURN_MS = 50;

/** Queue of runs from the host. Starts them in order, at most `concurrency` at a time. */
export class RunQueue {
  concurrency = 1;
  private waiting: Waiting[] = [];
  private next = 0;
  private running = 0;
  private planned = 0;
  /** Time at which the first planned run started. Undefined until then. */
  private turnAt: number | undefined;

  /**
   * `start` calls the component with the text of the event, and the place of the body if the text contains it once. The
   * caller must call `ended` once for each started run.
   */
  constructor(
    private readonly start: (n: number, event: string, body: BodyRange | undefined) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  add(runs: readonly SentRun[], raw: Buffer): void {
    let at = 0;
    for (const [n, bytes, start, end] of runs) {
      const event = raw.toString('utf8', at, at + bytes);
      this.waiting.push({ n, event, body: start === undefined || end === undefined ? undefined : { start, end } });
      at += bytes;
    }
    this.pump();
  }

  /** Drops the runs that have not started. */
  drop(): void {
    this.waiting = [];
    this.next = 0;
  }

  ended(): void {
    this.running--;
    if (this.waiting.length === 0) return;
    // Avoids a direct call, because runs that end at once would nest one stack frame per waiting run.
    if (this.isTurnShort()) queueMicrotask(this.startNext);
    else this.pump();
  }

  /** Starts one run per task, so that a run's microtasks finish before another run can block. */
  private pump(): void {
    const free = Math.min(this.concurrency - this.running, this.waiting.length - this.next) - this.planned;
    if (free > 0 && this.planned === 0) this.turnAt = undefined;
    for (let i = 0; i < free; i++) {
      this.planned++;
      setImmediate(this.startPlanned);
    }
  }

  private isTurnShort(): boolean {
    return this.turnAt !== undefined && this.now() - this.turnAt < TURN_MS;
  }

  private readonly startPlanned = (): void => {
    this.planned--;
    this.turnAt ??= this.now();
    if (this.isTurnShort()) this.startNext();
    if (this.planned === 0) this.pump();
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
    this.start(first.n, first.event, first.body);
  };
}
