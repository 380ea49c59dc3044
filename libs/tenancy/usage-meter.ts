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
 * Counts runs per workspace and UTC day, for a store that all processes add to. Counting is in memory; what was counted
 * goes to the store within a second, and is lost when the process dies before.
 */
export class UsageMeter implements Usage {
  /** By day and workspace, not yet in the store. */
  private counted = new Map<number, Map<string, DailyUsage>>();
  private timer: NodeJS.Timeout | undefined;
  /** Flushes and reads come one after the other, so that no read finds a count in both places, or in none. */
  private last: Promise<void> = Promise.resolve();
  private closed = false;

  /** `onFailure`: counts could not be stored, and are tried again with the next flush. */
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

  /** Of all processes, as they flushed it, and of this one up to now. */
  ofToday(workspaceId: string): Promise<DailyUsage> {
    return this.inTurn(async () => {
      const day = this.today();
      const stored = await this.store.of(day, workspaceId);
      return sum(stored, this.counted.get(day)?.get(workspaceId) ?? NOTHING);
    });
  }

  /** Resolves when what was counted before is stored. Rejects when it cannot be: then it is kept. */
  flush(): Promise<void> {
    return this.inTurn(async () => {
      const taken = this.counted;
      this.counted = new Map();
      try {
        for (const [day, used] of taken) {
          await this.store.add(day, used);
          taken.delete(day);
        }
      } catch (error) {
        for (const [day, used] of taken) {
          for (const [workspaceId, usage] of used) this.count(day, workspaceId, usage);
        }
        throw error;
      }
    });
  }

  /** Stores what was counted, and flushes no more by itself. Rejects when that fails. */
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

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(work);
    // The failure is the caller's to know; the next turn comes in either case.
    const ended = (): void => undefined;
    this.last = turn.then(ended, ended);
    return turn;
  }
}
