import {
  type DueRetry,
  type HandOut,
  type RetrySchedule,
  type ScheduledRetry,
  type WaitingHeaders,
} from '#libs/delivery/retry-schedule.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { BATCH_BYTES } from '../stream-log/fetcher.js';
import { type WaitingBytes } from '../writer/ops.js';
import { pagesByKey } from '../pages.js';
import { type Database } from '../writer/sqlite-driver.js';
import { type Writer } from '../writer/writer.js';

interface RetryRow {
  readonly id: string;
  readonly owner: string;
  readonly due_at: number;
  readonly record: string;
}

interface DueRow extends RetryRow {
  readonly since: number;
  readonly handed_out: number;
}

/** RetrySchedule in data.db with an index by due time. */
export class EmbeddedRetrySchedule implements RetrySchedule {
  /** Bytes of each owner with waiting entries. The writer thread reports changes, because it sees replaced entries. */
  private readonly bytes = new Map<string, number>();

  constructor(
    private readonly writer: Writer,
    private readonly reader: Database,
  ) {
    const sums = reader.sql('SELECT owner, sum(size) AS size FROM waiting GROUP BY owner');
    this.count(sums.all<{ owner: string; size: number }>().map(({ owner, size }) => [owner, size] as const));
  }

  async put(entries: readonly ScheduledRetry[]): Promise<void> {
    if (entries.length === 0) return;
    let bytes = 0;
    const rows = entries.flatMap(({ id, owner, dueAt, record }) => {
      const text = JSON.stringify(record);
      const size = Buffer.byteLength(text);
      bytes += size + 100;
      return [id, owner, dueAt, text, size];
    });
    this.count(await this.writer.submit('wait', rows, { bytes }));
  }

  async due(now: number, limit: number, except: readonly string[] = []): Promise<readonly DueRetry[]> {
    const due: DueRetry[] = [];
    let chars = 0;
    const others = except.length === 0 ? '' : 'AND owner NOT IN (SELECT value FROM json_each(?)) ';
    const values = except.length === 0 ? [now, limit] : [now, JSON.stringify(except), limit];
    const rows = this.reader
      .sql(
        `SELECT id, owner, due_at, record, since, handed_out FROM waiting WHERE since <= ? ${others}
         ORDER BY since, id LIMIT ?`,
      )
      .iterate<DueRow>(...values);
    for (const row of rows) {
      due.push({ ...waitingOf(row), since: row.since, handedOut: row.handed_out });
      chars += row.record.length;
      if (chars > BATCH_BYTES) break;
    }
    return due;
  }

  async handOut(handOuts: readonly HandOut[]): Promise<void> {
    if (handOuts.length === 0) return;
    await this.writer.submit(
      'hand_out',
      handOuts.flatMap(({ entry: { id, since }, until }) => [id, since, until]),
    );
  }

  async has(id: string): Promise<boolean> {
    return this.reader.sql('SELECT 1 FROM waiting WHERE id = ?').get(id) !== undefined;
  }

  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) this.count(await this.writer.submit('unwait', ids));
  }

  async removeOwner(owner: string): Promise<void> {
    this.count(await this.writer.submit('unwait_owner', owner));
  }

  async nextDueAt(): Promise<number | undefined> {
    return this.reader.sql('SELECT min(since) AS due FROM waiting').get<{ due: number | null }>()?.due ?? undefined;
  }

  async countOf(owner: string): Promise<number> {
    return this.reader.sql('SELECT count(*) AS n FROM waiting WHERE owner = ?').get<{ n: number }>(owner)?.n ?? 0;
  }

  async waitingOf(owner: string): Promise<readonly WaitingHeaders[]> {
    const found: WaitingHeaders[] = [];
    const rows = this.reader.sql('SELECT due_at, record FROM waiting WHERE owner = ?');
    for (const row of rows.iterate<Pick<RetryRow, 'due_at' | 'record'>>(owner))
      found.push({ headers: (JSON.parse(row.record) as LogRecord).headers, dueAt: row.due_at });
    return found;
  }

  bytesOf(owner: string): number {
    return this.bytes.get(owner) ?? 0;
  }

  async *all(): AsyncIterable<ScheduledRetry> {
    const page = this.reader.sql(
      'SELECT id, owner, due_at, record FROM waiting WHERE id > ? AND id <= ? ORDER BY id LIMIT ?',
    );
    const rows = pagesByKey<RetryRow>(
      this.reader.sql('SELECT max(id) AS last FROM waiting').get<{ last: string | null }>()?.last,
      (after, last, limit) => page.all(after, last, limit),
      ({ id }) => id,
    );
    for (const row of rows) yield waitingOf(row);
  }

  private count(grown: WaitingBytes): void {
    for (const [owner, more] of grown) {
      const bytes = this.bytesOf(owner) + more;
      if (bytes === 0) this.bytes.delete(owner);
      else this.bytes.set(owner, bytes);
    }
  }
}

const waitingOf = ({ id, owner, due_at: dueAt, record }: RetryRow): ScheduledRetry => ({
  id,
  owner,
  dueAt,
  record: JSON.parse(record) as LogRecord,
});
