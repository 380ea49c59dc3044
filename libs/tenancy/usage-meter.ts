import { SerialQueue } from '#libs/async/serial-queue.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type DailyUsage, type Usage, type UsageStore } from './published.js';

const DAY_MS = 86_400_000;
const CREDIT_MS = 30_000;
const FLUSH_MS = 1000;
const NOTHING: DailyUsage = { invocations: 0, computeMs: 0, credits: 0 };

const sum = (a: DailyUsage, b: DailyUsage): DailyUsage => ({
  invocations: a.invocations + b.invocations,
  computeMs: a.computeMs + b.computeMs,
  credits: a.credits + b.credits,
});

/**
 * Counts runs per workspace and UTC day in memory, and flushes the counts to a store that all processes add to. A flush
 * follows within a second. A process that dies before loses the counts.
 */
export class UsageMeter implements Usage {
  /** Counts by day and workspace that are not yet in the store. */
  private counted = new Map<number, Map<string, DailyUsage>>();
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

  /** Resolves when all earlier counts are stored. Rejects on failure, and keeps the counts. */
  flush(): Promise<void> {
    return this.turns.run(async () => {
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
    });
  }

  /** Stores the remaining counts and stops the periodic flush. Rejects when that fails. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await this.flush();
  }

  private today(): number {
    return Math.floor(this.clock.now() / DAY_MS);
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
          if (this.counted.size > 0) this.scheduleFlush();
        });
    }, FLUSH_MS).unref();
  }
}
