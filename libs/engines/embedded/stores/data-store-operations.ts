import { recordSize, sumOf } from '#libs/data-stores/data-store-records.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type FileOperations, Refused } from '../writer/group-commit.js';
import { type StoreWrite } from '../writer/ops.js';
import { type Database } from '../writer/sqlite-driver.js';

interface Row {
  readonly value: string;
  readonly expires_at: number | null;
  readonly size: number;
}

/** Records removed by one operation, so that other writes wait little. */
const REMOVED_AT_ONCE = 1_000;

/** Writes of the records of data stores in data.db. */
export const dataStoreOperations = (db: Database): FileOperations => {
  const table = new RecordTable(db);
  return {
    handlers: {
      store_set: (write) => {
        const { store, key, value, expires } = write;
        table.put(write, value, expires, table.find(store, key));
        return null;
      },
      store_incr: (write) => {
        const { store, key, by, expires, now } = write;
        const before = table.find(store, key);
        const live = before && isLive(before, now) ? before : undefined;
        const sum = refusing(() => sumOf(key, live?.value, by));
        table.put(write, JSON.stringify(sum), live ? live.expires_at : expires, before);
        return sum;
      },
      store_ttl: ({ store, key, expires, now }) => table.setEnd(store, key, expires, now),
      store_delete: ({ store, key, now }) => table.delete(store, key, now),
      store_clear: (store) => table.removeSome('store = ?', store),
      store_expire: (now) => table.removeSome('expires_at <= ?', now),
    },
    reset: () => undefined,
  };
};

/** The records, and `store_sizes`, which counts the keys and bytes of each store. */
class RecordTable {
  constructor(private readonly db: Database) {}

  find(store: string, key: string): Row | undefined {
    const text = 'SELECT value, expires_at, size FROM store_records WHERE store = ? AND key = ?';
    return this.db.sql(text).get<Row>(store, key);
  }

  /** Throws Refused beyond a limit. `before` is the record that is replaced. */
  put(write: StoreWrite, value: string, expires: number | null, before: Row | undefined): void {
    const { store, workspace, key, now } = write;
    const size = recordSize(key, value);
    const more = size - (before?.size ?? 0);
    const over = overOf(this.db, write, before ? 0 : 1, more);
    if (over) {
      // Expired records of the workspace make room first. One of them may be the replaced record.
      if (this.expireIn(workspace, now) > 0) return this.put(write, value, expires, this.find(store, key));
      throw new Refused({ rule: 'data_store', ...over });
    }
    this.db.sql('INSERT OR REPLACE INTO store_records VALUES (?, ?, ?, ?, ?)').run(store, key, value, expires, size);
    this.db
      .sql(
        `INSERT INTO store_sizes VALUES (?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET keys = keys + excluded.keys, bytes = bytes + excluded.bytes`,
      )
      .run(store, workspace, before ? 0 : 1, more);
  }

  /** False for a record that is absent or has expired. */
  setEnd(store: string, key: string, expires: number | null, now: number): boolean {
    const text = `UPDATE store_records SET expires_at = ? WHERE store = ? AND key = ?
                  AND (expires_at IS NULL OR expires_at > ?) RETURNING 1 AS one`;
    return this.db.sql(text).all(expires, store, key, now).length > 0;
  }

  delete(store: string, key: string, now: number): boolean {
    const before = this.find(store, key);
    if (!before) return false;
    this.db.sql('DELETE FROM store_records WHERE store = ? AND key = ?').run(store, key);
    this.shrink([{ store, size: before.size }]);
    return isLive(before, now);
  }

  /** Removes up to REMOVED_AT_ONCE records, and returns their number. */
  removeSome(condition: 'store = ?' | 'expires_at <= ?', value: string | number): number {
    const text = `DELETE FROM store_records WHERE rowid IN
                  (SELECT rowid FROM store_records WHERE ${condition} LIMIT ?) RETURNING store, size`;
    return this.shrink(this.db.sql(text).all(value, REMOVED_AT_ONCE));
  }

  private expireIn(workspace: string, now: number): number {
    const text = `DELETE FROM store_records WHERE expires_at <= ?
                  AND store IN (SELECT store FROM store_sizes WHERE workspace = ?) RETURNING store, size`;
    return this.shrink(this.db.sql(text).all(now, workspace));
  }

  private shrink(rows: readonly { store: string; size: number }[]): number {
    const shrink = this.db.sql('UPDATE store_sizes SET keys = keys - 1, bytes = bytes - ? WHERE store = ?');
    for (const { store, size } of rows) shrink.run(size, store);
    this.db.sql('DELETE FROM store_sizes WHERE keys = 0').run();
    return rows.length;
  }
}

const isLive = ({ expires_at: expires }: Row, now: number): boolean => expires === null || expires > now;

type Over = Pick<Extract<Refused['failure'], { rule: 'data_store' }>, 'full' | 'limit' | 'actual'>;

const overOf = (db: Database, write: StoreWrite, keys: number, bytes: number): Over | undefined => {
  const { store, workspace, limits } = write;
  const own = db.sql('SELECT keys, bytes FROM store_sizes WHERE store = ?').get<{ keys: number; bytes: number }>(store);
  const actualKeys = (own?.keys ?? 0) + keys;
  if (keys > 0 && actualKeys > limits.keys) return { full: 'keys', limit: limits.keys, actual: actualKeys };
  if (bytes <= 0) return undefined;
  const actual = (own?.bytes ?? 0) + bytes;
  if (actual > limits.storeBytes) return { full: 'storeBytes', limit: limits.storeBytes, actual };
  const all =
    (db
      .sql('SELECT coalesce(sum(bytes), 0) AS bytes FROM store_sizes WHERE workspace = ?')
      .get<{ bytes: number }>(workspace)?.bytes ?? 0) + bytes;
  return all > limits.workspaceBytes
    ? { full: 'workspaceBytes', limit: limits.workspaceBytes, actual: all }
    : undefined;
};

/** Errors lose their class between threads, so a refusal travels as its text. */
const refusing = <T>(act: () => T): T => {
  try {
    return act();
  } catch (error) {
    if (error instanceof DomainError) throw new Refused({ rule: 'data_store_number', message: error.message });
    throw error;
  }
};
