import { type DailyUsage, type UsageStore } from '../published.js';

const NOTHING: DailyUsage = { invocations: 0, computeMs: 0, credits: 0 };

/** A UsageStore for specs that fails on request. */
export class InMemoryUsage implements UsageStore {
  failure: Error | undefined;
  private readonly used = new Map<string, DailyUsage>();

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

  private at(day: number, workspaceId: string): DailyUsage {
    return this.used.get(`${day}/${workspaceId}`) ?? NOTHING;
  }
}
