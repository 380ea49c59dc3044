import { type FileOperations } from '../writer/group-commit.js';
import { DUE_SQL } from './due-store.js';
import { type Database } from '../writer/sqlite-driver.js';

interface Size {
  readonly owner: string;
  readonly size: number;
}

const COLUMNS = 6;

/** Writes of the due store, in data.db. */
export const dueOperations = (db: Database): FileOperations => ({
  handlers: {
    due_put: (rows) => {
      const replaced = db.sql('SELECT owner, size FROM due WHERE id = ?');
      const put = db.sql(
        'INSERT OR REPLACE INTO due(id, owner, kind, due_at, record, size, since) VALUES (?, ?, ?, ?, ?, ?, ?)',
      );
      const grown: [string, number][] = [];
      for (let i = 0; i < rows.length; i += COLUMNS) {
        const [id = '', owner = '', kind = '', dueAt = 0, record = '', size = 0] = rows.slice(i, i + COLUMNS);
        const before = replaced.get<Size>(id);
        if (before) grown.push([before.owner, -before.size]);
        put.run(id, owner, kind, dueAt, record, size, dueAt);
        grown.push([String(owner), Number(size)]);
      }
      return grown;
    },
    due_out: (rows) => {
      const move = db.sql('UPDATE due SET since = ?, times_out = times_out + 1 WHERE id = ? AND since = ?');
      for (let i = 0; i < rows.length; i += 3) {
        const [id = '', since = 0, until = 0] = rows.slice(i, i + 3);
        move.run(until, id, since);
      }
      return null;
    },
    due_remove: (ids) => {
      const remove = db.sql('DELETE FROM due WHERE id = ? RETURNING owner, size');
      return ids.flatMap((id) => {
        const removed = remove.get<Size>(id);
        return removed ? [[removed.owner, -removed.size] as const] : [];
      });
    },
    due_remove_owner: (owner) => {
      const sum = db.sql('SELECT coalesce(sum(size), 0) AS size FROM due WHERE owner = ?').get<{ size: number }>(owner);
      db.sql(DUE_SQL.removal).run(owner);
      return [[owner, -(sum?.size ?? 0)]];
    },
  },
  reset: () => undefined,
});
