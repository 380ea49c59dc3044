import { type RetrySchedule, type Waiting } from '#libs/delivery/retry-schedule.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { pagesByKey } from './pages.js';
import { type Database } from './sqlite-driver.js';
import { type Writer } from './writer.js';

interface WaitingRow {
  readonly id: string;
  readonly owner: string;
  readonly due_at: number;
  readonly record: string;
}

/** RetrySchedule in data.db, an index by due time. */
export class EmbeddedRetrySchedule implements RetrySchedule {
  constructor(
    private readonly writer: Writer,
    private readonly reader: Database,
  ) {}

  async put(entries: readonly Waiting[]): Promise<void> {
    if (entries.length === 0) return;
    let bytes = 0;
    const rows = entries.flatMap(({ id, owner, dueAt, record }) => {
      const text = JSON.stringify(record);
      bytes += text.length + 100;
      return [id, owner, dueAt, text];
    });
    await this.writer.submit('wait', rows, bytes);
  }

  async due(now: number, limit: number): Promise<readonly Waiting[]> {
    return this.reader
      .sql('SELECT id, owner, due_at, record FROM waiting WHERE due_at <= ? ORDER BY due_at, id LIMIT ?')
      .all<WaitingRow>(now, limit)
      .map(waitingOf);
  }

  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.writer.submit('unwait', ids);
  }

  async removeOwner(owner: string): Promise<void> {
    await this.writer.submit('unwait_owner', owner);
  }

  async nextDueAt(): Promise<number | undefined> {
    return this.reader.sql('SELECT min(due_at) AS due FROM waiting').get<{ due: number | null }>()?.due ?? undefined;
  }

  async countOf(owner: string): Promise<number> {
    return this.reader.sql('SELECT count(*) AS n FROM waiting WHERE owner = ?').get<{ n: number }>(owner)?.n ?? 0;
  }

  async *all(): AsyncIterable<Waiting> {
    const page = this.reader.sql('SELECT id, owner, due_at, record FROM waiting WHERE id > ? ORDER BY id LIMIT ?');
    const rows = pagesByKey<WaitingRow>(
      (after, limit) => page.all(after, limit),
      ({ id }) => id,
    );
    for (const row of rows) yield waitingOf(row);
  }
}

const waitingOf = ({ id, owner, due_at: dueAt, record }: WaitingRow): Waiting => ({
  id,
  owner,
  dueAt,
  record: JSON.parse(record) as LogRecord,
});
