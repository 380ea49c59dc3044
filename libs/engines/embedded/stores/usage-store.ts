import { type DailyUsage, type UsageStore } from '#libs/tenancy/published.js';
import { type Database } from '../writer/sqlite-driver.js';
import { type Writer } from '../writer/writer.js';

/** UsageStore in data.db with a row per day and workspace. */
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
}
