import { InFlightMap } from '#libs/kernel/in-flight-map.js';
import { MAX_BATCH, MB } from '../protocol/protocol.js';
import { type RunCollector } from './run-collector.js';

/** Maximum number of runs in the child. Two frames, so that the child never waits for the host. */
const WINDOW = 2 * MAX_BATCH;
/** Bytes of events in the child beyond which no more are sent. */
const WINDOW_BYTES = 4 * MB;

/** Runs and hooks that the child has received and not ended, in the order in which they were sent. */
export class SentRuns implements Iterable<RunCollector> {
  private readonly runs = new InFlightMap<number, RunCollector>();
  private readonly window: number;
  private bytes = 0;
  private lastNumber = 0;
  private starts = 0;

  constructor(concurrency: number) {
    this.window = Math.max(WINDOW, concurrency);
  }

  get size(): number {
    return this.runs.size;
  }

  /** True when the child may receive another frame. */
  hasRoom(): boolean {
    return this.runs.size < this.window && this.bytes < WINDOW_BYTES;
  }

  [Symbol.iterator](): Iterator<RunCollector> {
    return this.runs.values();
  }

  /** Number for the next run to the child. */
  nextNumber(): number {
    return ++this.lastNumber;
  }

  get(n: number): RunCollector | undefined {
    return this.runs.get(n);
  }

  add(run: RunCollector): void {
    this.runs.set(run.n, run);
    this.bytes += run.eventBytes;
  }

  remove(run: RunCollector): void {
    if (this.runs.delete(run.n)) this.bytes -= run.eventBytes;
  }

  clear(): void {
    this.runs.clear();
    this.bytes = 0;
  }

  /** Notes that the run's code started at `startedAt`. */
  start(run: RunCollector, startedAt: number): void {
    run.startedAt = startedAt;
    run.startOrder = ++this.starts;
  }

  /** Runs that the child may still return. It returns no hook. */
  notStarted(): RunCollector[] {
    return [...this].filter((run) => !run.started && !run.beside);
  }

  /** Returns the first run if none has started. */
  firstIfNoneStarted(): RunCollector | undefined {
    let first: RunCollector | undefined;
    for (const run of this) {
      if (run.started) return undefined;
      first ??= run;
    }
    return first;
  }

  /** Returns the run that started last. */
  lastStarted(): RunCollector | undefined {
    let last: RunCollector | undefined;
    for (const run of this) if (run.started && run.startOrder >= (last?.startOrder ?? 0)) last = run;
    return last;
  }

  /** Returns the started run that holds the most memory. */
  largest(): RunCollector | undefined {
    let largest: RunCollector | undefined;
    for (const run of this) if (run.started && run.heldBytes >= (largest?.heldBytes ?? 0)) largest = run;
    return largest;
  }
}
