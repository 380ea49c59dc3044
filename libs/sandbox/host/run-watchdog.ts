import { type Clock } from '#libs/kernel/clock.js';
import { type RunCollector } from './run-collector.js';
import { type SentRuns } from './sent-runs.js';

/** Extra time, on top of a blocking run's limit, for a process to return the runs it has not started. */
const GIVE_BACK_MS = 1_000;

export interface WatchdogHost {
  /** False ends the watch. */
  alive(): boolean;
  /** Called when a run exceeded its limit. The run is undefined when something blocks the whole process. */
  onOverdue(run: RunCollector | undefined): void;
  /** Called when the process has not returned its runs in time. */
  onGiveBackOverdue(): void;
}

/** Watches the time limits of a process: those of its runs, and that of its answer to `drop`. */
export class RunWatchdog {
  private timer: NodeJS.Timeout | undefined;
  private lastHeardAt = 0;
  /** Time at which reading was paused. Undefined while the process is read. */
  private pausedAt: number | undefined;
  /** Deadline for the answer to `drop`. Undefined while no answer is due. */
  private giveBackBy: number | undefined;

  constructor(
    private readonly runs: SentRuns,
    private readonly concurrency: number,
    private readonly clock: Clock,
    private readonly host: WatchdogHost,
  ) {}

  /** True while the process owes an answer to `drop`. */
  get awaitsGiveBack(): boolean {
    return this.giveBackBy !== undefined;
  }

  /** Starts the timer, unless it runs or there is nothing to watch. */
  watch(): void {
    if (this.timer || this.runs.size === 0) return;
    let shortest = Infinity;
    for (const run of this.runs) shortest = Math.min(shortest, run.timeoutMs);
    this.timer = setTimeout(
      () => {
        this.timer = undefined;
        this.check();
        if (this.host.alive()) this.watch();
      },
      Math.min(Math.max(shortest / 10, 10), 250),
    );
  }

  close(): void {
    clearTimeout(this.timer);
  }

  /** Notes that the process sent something. */
  heard(): void {
    this.lastHeardAt = this.clock.now();
  }

  /** Starts the time for an answer to `drop`. */
  expectGiveBack(): void {
    let longest = 0;
    for (const { timeoutMs } of this.runs) longest = Math.max(longest, timeoutMs);
    this.giveBackBy = this.clock.now() + longest + GIVE_BACK_MS;
  }

  /** Notes the answer to `drop`. */
  givenBack(): void {
    this.giveBackBy = undefined;
  }

  /** Notes that the process is not read. Idempotent. */
  pause(): void {
    this.pausedAt ??= this.clock.now();
  }

  /** Returns false if the process was not paused. The time of the pause does not count towards any limit. */
  resume(): boolean {
    if (this.pausedAt === undefined) return false;
    const now = this.clock.now();
    for (const run of this.runs) run.wasUnheard(now - Math.max(this.pausedAt, run.startedAt));
    this.lastHeardAt = now;
    if (this.giveBackBy !== undefined) this.giveBackBy += now - this.pausedAt;
    this.pausedAt = undefined;
    return true;
  }

  private check(): void {
    if (this.pausedAt !== undefined) return;
    const now = this.clock.now();
    const overdue = this.findOverdue(now);
    if (overdue) this.host.onOverdue(overdue === 'unknown' ? undefined : overdue);
    else if (this.giveBackBy !== undefined && now >= this.giveBackBy) this.host.onGiveBackOverdue();
  }

  /**
   * Finds the run that exceeded its time limit. Returns 'unknown' when a run that could start has not reported its
   * start. Something has then blocked the whole process since its last record (Uplink.spill).
   */
  private findOverdue(now: number): RunCollector | 'unknown' | undefined {
    let free = this.concurrency;
    const next: RunCollector[] = [];
    for (const run of this.runs) {
      if (!run.started) next.push(run);
      else if (run.ranFor(now) >= run.timeoutMs) return run;
      else if (!run.beside) free--;
    }
    const isStuck = (run: RunCollector): boolean => now - Math.max(run.sentAt, this.lastHeardAt) >= run.timeoutMs;
    return next.slice(0, Math.max(free, 0)).some(isStuck) ? 'unknown' : undefined;
  }
}
