import { type Clock } from '#libs/kernel/clock.js';
import { type DailyUsage, type Usage } from './published.js';

const DAY_MS = 86_400_000;
const CREDIT_MS = 30_000;
const NOTHING: DailyUsage = { invocations: 0, computeMs: 0, credits: 0 };

/** Counts runs per workspace since 00:00 UTC, or since this process started when that is later. */
export class UsageMeter implements Usage {
  private day = 0;
  private readonly used = new Map<string, DailyUsage>();

  constructor(private readonly clock: Clock) {}

  recordRun(workspaceId: string, computeMs: number): void {
    const before = this.ofToday(workspaceId);
    this.used.set(workspaceId, {
      invocations: before.invocations + 1,
      computeMs: before.computeMs + Math.round(computeMs),
      credits: before.credits + Math.max(1, Math.ceil(computeMs / CREDIT_MS)),
    });
  }

  ofToday(workspaceId: string): DailyUsage {
    const today = Math.floor(this.clock.now() / DAY_MS);
    if (today !== this.day) {
      this.day = today;
      this.used.clear();
    }
    return this.used.get(workspaceId) ?? NOTHING;
  }
}
