import { MinuteTallies } from '../minute-tallies.js';
import { type CountedMinute, type DailyUsage, type UsageStore } from '../published.js';

const NOTHING: DailyUsage = { invocations: 0, computeMs: 0, credits: 0 };

/** A UsageStore for specs that fails on request. */
export class InMemoryUsage implements UsageStore {
  failure: Error | undefined;
  private readonly used = new Map<string, DailyUsage>();
  private readonly minutes = new MinuteTallies();

  async add(day: number, used: ReadonlyMap<string, DailyUsage>): Promise<void> {
    if (this.failure) throw this.failure;
    for (const [workspaceId, { invocations, computeMs, credits }] of used) {
      const before = this.at(day, workspaceId);
      this.used.set(`${day}/${workspaceId}`, {
        invocations: before.invocations + invocations,
        computeMs: before.computeMs + computeMs,
        credits: before.credits + credits,
      });
    }
  }

  async of(day: number, workspaceId: string): Promise<DailyUsage> {
    return this.at(day, workspaceId);
  }

  async addMinutes(counted: readonly CountedMinute[]): Promise<void> {
    if (this.failure) throw this.failure;
    for (const each of counted) this.minutes.addAll(each);
    this.minutes.forgetOld(Math.max(...counted.map(({ minute }) => minute)));
  }

  async minutesOf(workspaceId: string, from: number): Promise<readonly CountedMinute[]> {
    return [...this.minutes.all()]
      .filter((each) => each.workspaceId === workspaceId && each.minute >= from)
      .sort((a, b) => a.minute - b.minute);
  }

  private at(day: number, workspaceId: string): DailyUsage {
    return this.used.get(`${day}/${workspaceId}`) ?? NOTHING;
  }
}
