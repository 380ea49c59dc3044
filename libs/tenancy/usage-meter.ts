import { SerialQueue } from '#libs/async/serial-queue.js';
import { type Clock } from '#libs/kernel/clock.js';
import { MinuteTallies } from './minute-tallies.js';
import { type CountedMinute, type DailyUsage, type MinuteCount, type Usage, type UsageStore } from './published.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const CREDIT_MS = 30_000;
const FLUSH_MS = 1000;
const NOTHING: DailyUsage = { invocations: 0, computeMs: 0, credits: 0 };

const sum = (a: DailyUsage, b: DailyUsage): DailyUsage => ({
  invocations: a.invocations + b.invocations,
  computeMs: a.computeMs + b.computeMs,
  credits: a.credits + b.credits,
});

/**
 * Counts what happens in each workspace, by UTC day and by minute, in memory, and flushes the counts to a store that all
 * processes add to. A flush follows within a second. A process that dies before loses the counts.
 */
export class UsageMeter implements Usage {
  /** Counts by day and workspace that are not yet in the store. */
  private counted = new Map<number, Map<string, DailyUsage>>();
  /** The same by minute. */
  private minutes = new MinuteTallies();
  private timer: NodeJS.Timeout | undefined;
  /** Flushes and reads, one after another. So a read never finds a count in both places or in neither. */
  private readonly turns = new SerialQueue();
  private closed = false;

  /** Calls `onFailure` when counts could not be stored. The next flush retries them. */
  constructor(
    private readonly clock: Clock,
    private readonly store: UsageStore,
    private readonly onFailure: (error: unknown) => void = () => undefined,
  ) {}

  recordRun(workspaceId: string, computeMs: number): void {
    this.count(this.today(), workspaceId, {
      invocations: 1,
      computeMs: Math.round(computeMs),
      credits: Math.max(1, Math.ceil(computeMs / CREDIT_MS)),
    });
    this.add(workspaceId, 'runs');
  }

  /** Counts in the present minute. */
  add(workspaceId: string, what: MinuteCount, times = 1): void {
    if (times === 0) return;
    this.minutes.add(this.minute(), workspaceId, what, times);
    this.scheduleFlush();
  }

  /** Today's usage: the flushed counts of all processes, plus the unflushed ones of this process. */
  ofToday(workspaceId: string): Promise<DailyUsage> {
    return this.turns.run(async () => {
      const day = this.today();
      const stored = await this.store.of(day, workspaceId);
      return sum(stored, this.counted.get(day)?.get(workspaceId) ?? NOTHING);
    });
  }

  /** The last minutes in their order, each once, the present one last. Counted as in `ofToday`. */
  ofMinutes(workspaceId: string, minutes: number): Promise<readonly CountedMinute[]> {
    return this.turns.run(async () => {
      const from = this.minute() - minutes + 1;
      const all = new MinuteTallies();
      for (const stored of await this.store.minutesOf(workspaceId, from)) all.addAll(stored);
      for (const own of this.minutes.of(workspaceId)) all.addAll(own);
      return Array.from({ length: minutes }, (_, i) => all.at(from + i, workspaceId));
    });
  }

  /** Resolves when all earlier counts are stored. Rejects on failure, and keeps the counts. */
  flush(): Promise<void> {
    return this.turns.run(async () => {
      await this.flushDays();
      await this.flushMinutes();
    });
  }

  /** Stores the remaining counts and stops the periodic flush. Rejects when that fails. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await this.flush();
  }

  private async flushDays(): Promise<void> {
    const flushing = this.counted;
    this.counted = new Map();
    try {
      for (const [day, used] of flushing) {
        await this.store.add(day, used);
        flushing.delete(day);
      }
    } catch (error) {
      for (const [day, used] of flushing) {
        for (const [workspaceId, usage] of used) this.count(day, workspaceId, usage);
      }
      throw error;
    }
  }

  private async flushMinutes(): Promise<void> {
    if (this.minutes.isEmpty) return;
    const flushing = this.minutes;
    this.minutes = new MinuteTallies();
    try {
      await this.store.addMinutes([...flushing.all()]);
    } catch (error) {
      for (const counted of flushing.all()) this.minutes.addAll(counted);
      // A store that stays away must not fill the memory.
      this.minutes.forgetOld(this.minute());
      throw error;
    }
  }

  private today(): number {
    return Math.floor(this.clock.now() / DAY_MS);
  }

  private minute(): number {
    return Math.floor(this.clock.now() / MINUTE_MS);
  }

  private count(day: number, workspaceId: string, usage: DailyUsage): void {
    const used = this.counted.get(day) ?? new Map<string, DailyUsage>();
    this.counted.set(day, used);
    used.set(workspaceId, sum(used.get(workspaceId) ?? NOTHING, usage));
  }

  private scheduleFlush(): void {
    if (this.closed) return;
    this.timer ??= setTimeout(() => {
      this.flush()
        .catch((error: unknown) => this.onFailure(error))
        .finally(() => {
          this.timer = undefined;
          if (this.counted.size > 0 || !this.minutes.isEmpty) this.scheduleFlush();
        });
    }, FLUSH_MS).unref();
  }
}
