import { DATA_STORE_LIMITS, type DataStoreLimits, PAGE_BYTES } from '#libs/component-model/data-store-calls.js';
import {
  type DataStoreRecords,
  type OwnedRecord,
  type PageOfRecords,
  type RecordPage,
  recordSize,
  type StoreRecord,
} from '#libs/data-stores/data-store-records.js';
import { type Database } from '../writer/sqlite-driver.js';
import { type Writer } from '../writer/writer.js';

interface Row {
  readonly key: string;
  readonly value: string;
  readonly expiresAt: number | null;
  readonly size: number;
}

const PAGE = 200;

/** DataStoreRecords in data.db. Only the writer thread writes, so every count and `incr` is exact. */
export class EmbeddedDataStoreRecords implements DataStoreRecords {
  constructor(
    private readonly writer: Writer,
    private readonly reader: Database,
    private readonly limits: DataStoreLimits = DATA_STORE_LIMITS,
  ) {}

  async get(storeId: string, key: string, now: number): Promise<StoreRecord | undefined> {
    return this.reader
      .sql(
        `SELECT key, value, expires_at AS expiresAt FROM store_records
         WHERE store = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?)`,
      )
      .get<StoreRecord>(storeId, key, now);
  }

  async set({ storeId: store, workspaceId: workspace, key, value, expiresAt: expires }: OwnedRecord, now: number) {
    const { limits } = this;
    const write = { store, workspace, key, value, expires, now, limits };
    await this.writer.submit('store_set', write, { bytes: recordSize(key, value) + 300 });
  }

  setTtl(store: string, key: string, expires: number | null, now: number): Promise<boolean> {
    return this.writer.submit('store_ttl', { store, key, expires, now });
  }

  delete(store: string, key: string, now: number): Promise<boolean> {
    return this.writer.submit('store_delete', { store, key, now });
  }

  incr(
    owner: Omit<OwnedRecord, 'value' | 'expiresAt'>,
    by: number,
    now: number,
    expires: number | null = null,
  ): Promise<number> {
    const { storeId: store, workspaceId: workspace, key } = owner;
    return this.writer.submit('store_incr', { store, workspace, key, by, expires, now, limits: this.limits });
  }

  async page(storeId: string, { after, limit, keysOnly }: PageOfRecords, now: number): Promise<RecordPage> {
    const rows = this.reader
      .sql(
        `SELECT key, ${keysOnly ? "''" : 'value'} AS value, expires_at AS expiresAt, size FROM store_records
         WHERE store = ? AND key > ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY key LIMIT ?`,
      )
      .iterate<Row>(storeId, after, now, limit + 1);
    const records: StoreRecord[] = [];
    let bytes = 0;
    for (const { key, value, expiresAt, size } of rows) {
      bytes += keysOnly ? Buffer.byteLength(key) : size;
      if (records.length >= limit || (records.length > 0 && bytes > PAGE_BYTES)) return { records, more: true };
      records.push({ key, value, expiresAt });
    }
    return { records, more: false };
  }

  async size(storeId: string, now: number): Promise<number> {
    const all = this.reader.sql('SELECT keys AS count FROM store_sizes WHERE store = ?');
    const expired = this.reader.sql('SELECT count(*) AS count FROM store_records WHERE store = ? AND expires_at <= ?');
    const count = (row: { count: number } | undefined): number => row?.count ?? 0;
    return count(all.get<{ count: number }>(storeId)) - count(expired.get<{ count: number }>(storeId, now));
  }

  async clear(storeId: string): Promise<void> {
    while ((await this.writer.submit('store_clear', storeId)) > 0);
  }

  expire(now: number): Promise<number> {
    return this.writer.submit('store_expire', now);
  }

  async *all(): AsyncIterable<OwnedRecord> {
    const page = this.reader.sql(
      `SELECT r.store AS storeId, workspace AS workspaceId, key, value, expires_at AS expiresAt
       FROM store_records r JOIN store_sizes s ON s.store = r.store
       WHERE (r.store, r.key) > (?, ?) AND (r.store, r.key) <= (?, ?) ORDER BY r.store, r.key LIMIT ?`,
    );
    const last = this.reader
      .sql('SELECT store AS storeId, key FROM store_records ORDER BY store DESC, key DESC LIMIT 1')
      .get<Pick<OwnedRecord, 'storeId' | 'key'>>();
    if (!last) return;
    for (let after = { storeId: '', key: '' }; ;) {
      const rows = page.all<OwnedRecord>(after.storeId, after.key, last.storeId, last.key, PAGE);
      yield* rows;
      const end = rows.at(-1);
      if (!end || rows.length < PAGE) return;
      after = end;
    }
  }
}
