import { type DueKind } from '#libs/due/due-kinds.js';
import {
  type DueEntry,
  type DueRecord,
  type DueStore,
  type Out,
  PutListeners,
  type ReadEntry,
  type WaitingHeaders,
} from '#libs/due/due-store.js';
import { BATCH_BYTES } from '../stream-log/fetcher.js';
import { type WaitingBytes } from '../writer/ops.js';
import { pagesByKey } from '../pages.js';
import { type Database } from '../writer/sqlite-driver.js';
import { type Writer } from '../writer/writer.js';

interface EntryRow {
  readonly id: string;
  readonly owner: string;
  readonly kind: DueKind;
  readonly due_at: number;
  readonly record: string;
}

interface ReadRow extends EntryRow {
  readonly since: number;
  readonly times_out: number;
}

/** Queries that must cost the same however much is stored. */
export const DUE_SQL = {
  by: `SELECT id, owner, kind, due_at, record, since, times_out FROM due
    WHERE since <= ? AND owner NOT IN (SELECT value FROM json_each(?)) ORDER BY since, id LIMIT ?`,
  next: 'SELECT min(since) AS due FROM due',
  counts: 'SELECT owner, count(*) AS n FROM due WHERE owner IN (SELECT value FROM json_each(?)) GROUP BY owner',
  ofOwner: 'SELECT due_at, record FROM due WHERE owner = ?',
  removal: 'DELETE FROM due WHERE owner = ?',
} as const;

/** DueStore in data.db with an index by due time. */
export class EmbeddedDueStore implements DueStore {
  /** Bytes of each owner with waiting entries. The writer thread reports changes, because it sees replaced entries. */
  private readonly bytes = new Map<string, number>();
  private readonly listeners = new PutListeners();

  constructor(
    private readonly writer: Writer,
    private readonly reader: Database,
  ) {
    const sums = reader.sql('SELECT owner, sum(size) AS size FROM due GROUP BY owner');
    this.count(sums.all<{ owner: string; size: number }>().map(({ owner, size }) => [owner, size] as const));
  }

  async put(entries: readonly DueEntry[]): Promise<void> {
    if (entries.length === 0) return;
    let bytes = 0;
    const rows = entries.flatMap(({ id, owner, kind, dueAt, record: { key, headers, value } }) => {
      const text = JSON.stringify({ key, headers, value } satisfies DueRecord);
      const size = Buffer.byteLength(text);
      bytes += size + 100;
      return [id, owner, kind, dueAt, text, size];
    });
    this.count(await this.writer.submit('due_put', rows, { bytes }));
    this.listeners.put(entries);
  }

  async dueBy(now: number, limit: number, except: readonly string[] = []): Promise<readonly ReadEntry[]> {
    const read: ReadEntry[] = [];
    let chars = 0;
    const rows = this.reader.sql(DUE_SQL.by).iterate<ReadRow>(now, JSON.stringify(except), limit);
    for (const row of rows) {
      read.push({ ...entryOf(row), since: row.since, timesOut: row.times_out });
      chars += row.record.length;
      if (chars > BATCH_BYTES) break;
    }
    return read;
  }

  async setOut(outs: readonly Out[]): Promise<void> {
    if (outs.length === 0) return;
    await this.writer.submit(
      'due_out',
      outs.flatMap(({ entry: { id, since }, until }) => [id, since, until]),
    );
  }

  async has(id: string): Promise<boolean> {
    return this.reader.sql('SELECT 1 FROM due WHERE id = ?').get(id) !== undefined;
  }

  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) this.count(await this.writer.submit('due_remove', ids));
  }

  async removeOwner(owner: string): Promise<void> {
    this.count(await this.writer.submit('due_remove_owner', owner));
  }

  async nextDueAt(): Promise<number | undefined> {
    return this.reader.sql(DUE_SQL.next).get<{ due: number | null }>()?.due ?? undefined;
  }

  async countsOf(owners: readonly string[]): Promise<readonly number[]> {
    const rows = this.reader.sql(DUE_SQL.counts).all<{ owner: string; n: number }>(JSON.stringify(owners));
    const counts = new Map(rows.map(({ owner, n }) => [owner, n]));
    return owners.map((owner) => counts.get(owner) ?? 0);
  }

  async waitingOf(owner: string): Promise<readonly WaitingHeaders[]> {
    const found: WaitingHeaders[] = [];
    const rows = this.reader.sql(DUE_SQL.ofOwner);
    for (const row of rows.iterate<Pick<EntryRow, 'due_at' | 'record'>>(owner))
      found.push({ headers: (JSON.parse(row.record) as DueRecord).headers, dueAt: row.due_at });
    return found;
  }

  /** Bytes of an owner's records, each as JSON in UTF-8. Read from memory, so it is cheap enough for every emit. */
  bytesOf(owner: string): number {
    return this.bytes.get(owner) ?? 0;
  }

  async *all(): AsyncIterable<DueEntry> {
    const page = this.reader.sql(
      'SELECT id, owner, kind, due_at, record FROM due WHERE id > ? AND id <= ? ORDER BY id LIMIT ?',
    );
    const rows = pagesByKey<EntryRow>(
      this.reader.sql('SELECT max(id) AS last FROM due').get<{ last: string | null }>()?.last,
      (after, last, limit) => page.all(after, last, limit),
      ({ id }) => id,
    );
    for (const row of rows) yield entryOf(row);
  }

  onPut(listener: (dueAt: number) => void): () => void {
    return this.listeners.add(listener);
  }

  private count(grown: WaitingBytes): void {
    for (const [owner, more] of grown) {
      const bytes = this.bytesOf(owner) + more;
      if (bytes === 0) this.bytes.delete(owner);
      else this.bytes.set(owner, bytes);
    }
  }
}

const entryOf = ({ id, owner, kind, due_at: dueAt, record }: EntryRow): DueEntry => ({
  id,
  owner,
  kind,
  dueAt,
  record: JSON.parse(record) as DueRecord,
});
