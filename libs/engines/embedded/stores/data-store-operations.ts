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

/** Writes of the records of data stores in data.db. `store_sizes` counts the keys and bytes of each store. */
export const dataStoreOperations = (db: Database): FileOperations => {
  const found = (store: string, key: string): Row | undefined =>
    db.sql('SELECT value, expires_at, size FROM store_records WHERE store = ? AND key = ?').get<Row>(store, key);
  const grow = (store: string, workspace: string, keys: number, bytes: number): void =>
    void db
      .sql(
        `INSERT INTO store_sizes VALUES (?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET keys = keys + excluded.keys, bytes = bytes + excluded.bytes`,
      )
      .run(store, workspace, keys, bytes);
  const removed = (rows: readonly { store: string; size: number }[]): number => {
    const shrink = db.sql('UPDATE store_sizes SET keys = keys - 1, bytes = bytes - ? WHERE store = ?');
    for (const { store, size } of rows) shrink.run(size, store);
    db.sql('DELETE FROM store_sizes WHERE keys = 0').run();
    return rows.length;
  };
  const expireIn = (column: 'store' | 'workspace', of: string, now: number): number =>
    removed(
      db
        .sql(
          `DELETE FROM store_records WHERE expires_at <= ? AND store IN (SELECT store FROM store_sizes WHERE ${column} = ?)
           RETURNING store, size`,
        )
        .all(now, of),
    );
  const put = (write: StoreWrite, value: string, expires: number | null, before: Row | undefined): void => {
    const { store, workspace, key, now } = write;
    const size = recordSize(key, value);
    const more = size - (before?.size ?? 0);
    const over = overOf(db, write, before ? 0 : 1, more);
    if (over) {
      // Expired records of the workspace make room first. One of them may be the replaced record.
      if (expireIn('workspace', workspace, now) > 0) return put(write, value, expires, found(store, key));
      throw new Refused({ rule: 'data_store', ...over });
    }
    db.sql('INSERT OR REPLACE INTO store_records VALUES (?, ?, ?, ?, ?)').run(store, key, value, expires, size);
    grow(store, workspace, before ? 0 : 1, more);
  };
  return {
    handlers: {
      store_set: (write) => {
        const { store, key, value, expires } = write;
        put(write, value, expires, found(store, key));
        return null;
      },
      store_incr: (write) => {
        const { store, key, by, now } = write;
        const before = found(store, key);
        const live = before && isLive(before, now) ? before : undefined;
        const sum = refusing(() => sumOf(key, live?.value, by));
        put(write, JSON.stringify(sum), live?.expires_at ?? null, before);
        return sum;
      },
      store_ttl: ({ store, key, expires, now }) =>
        db
          .sql(
            `UPDATE store_records SET expires_at = ? WHERE store = ? AND key = ?
             AND (expires_at IS NULL OR expires_at > ?) RETURNING 1 AS one`,
          )
          .all(expires, store, key, now).length > 0,
      store_delete: ({ store, key, now }) => {
        const before = found(store, key);
        if (!before) return false;
        db.sql('DELETE FROM store_records WHERE store = ? AND key = ?').run(store, key);
        removed([{ store, size: before.size }]);
        return isLive(before, now);
      },
      store_clear: (store) =>
        removed(
          db
            .sql(
              `DELETE FROM store_records WHERE rowid IN (SELECT rowid FROM store_records WHERE store = ? LIMIT ?)
               RETURNING store, size`,
            )
            .all(store, REMOVED_AT_ONCE),
        ),
      store_expire: (now) =>
        removed(
          db
            .sql(
              `DELETE FROM store_records WHERE rowid IN
               (SELECT rowid FROM store_records WHERE expires_at <= ? LIMIT ?) RETURNING store, size`,
            )
            .all(now, REMOVED_AT_ONCE),
        ),
    },
    reset: () => undefined,
  };
};

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
