import {
  type CountedMinute,
  type DailyUsage,
  KEPT_MINUTES,
  MINUTE_COUNTS,
  type UsageStore,
} from '#libs/tenancy/published.js';
import { type Database } from '../writer/sqlite-driver.js';
import { type Writer } from '../writer/writer.js';

/** UsageStore in data.db with a row per day and workspace, and one per minute and workspace. */
export class EmbeddedUsageStore implements UsageStore {
  constructor(
    private readonly writer: Writer,
    private readonly reader: Database,
  ) {}

  async add(day: number, used: ReadonlyMap<string, DailyUsage>): Promise<void> {
    if (used.size === 0) return;
    const rows = [...used].flatMap(([workspaceId, { invocations, computeMs, credits }]) => [
      workspaceId,
      invocations,
      computeMs,
      credits,
    ]);
    await this.writer.submit('usage', { day, rows });
  }

  async of(day: number, workspaceId: string): Promise<DailyUsage> {
    const row = this.reader
      .sql('SELECT invocations, compute_ms AS computeMs, credits FROM usage WHERE day = ? AND workspace = ?')
      .get<DailyUsage>(day, workspaceId);
    return { invocations: row?.invocations ?? 0, computeMs: row?.computeMs ?? 0, credits: row?.credits ?? 0 };
  }

  async addMinutes(counted: readonly CountedMinute[]): Promise<void> {
    if (counted.length === 0) return;
    const rows = counted.flatMap((each) => [each.minute, each.workspaceId, ...MINUTE_COUNTS.map((name) => each[name])]);
    const newest = counted.reduce((latest, { minute }) => Math.max(latest, minute), 0);
    await this.writer.submit('minutes', { rows, kept: newest - KEPT_MINUTES });
  }

  async minutesOf(workspaceId: string, from: number): Promise<readonly CountedMinute[]> {
    return this.reader
      .sql(
        `SELECT workspace AS workspaceId, minute, ${MINUTE_COUNTS.join(', ')} FROM usage_minutes
         WHERE workspace = ? AND minute >= ? ORDER BY minute`,
      )
      .all<CountedMinute>(workspaceId, from);
  }
}
