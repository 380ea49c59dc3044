import { type FileOperations } from '../writer/group-commit.js';
import { type Database } from '../writer/sqlite-driver.js';

/** Upper bound of a prefix search over text keys: the first text after all that start with the prefix. */
export const prefixEnd = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

interface WaitingSize {
  readonly owner: string;
  readonly size: number;
}

const waitingHandlers = (
  db: Database,
): Required<Pick<FileOperations['handlers'], 'wait' | 'hand_out' | 'unwait' | 'unwait_owner'>> => ({
  wait: (rows) => {
    const replaced = db.sql('SELECT owner, size FROM waiting WHERE id = ?');
    const put = db.sql(
      'INSERT OR REPLACE INTO waiting(id, owner, due_at, record, size, since) VALUES (?, ?, ?, ?, ?, ?)',
    );
    const grown: [string, number][] = [];
    for (let i = 0; i < rows.length; i += 5) {
      const [id = '', owner = '', dueAt = 0, record = '', size = 0] = rows.slice(i, i + 5);
      const before = replaced.get<WaitingSize>(id);
      if (before) grown.push([before.owner, -before.size]);
      put.run(id, owner, dueAt, record, size, dueAt);
      grown.push([String(owner), Number(size)]);
    }
    return grown;
  },
  hand_out: (rows) => {
    const move = db.sql('UPDATE waiting SET since = ?, handed_out = handed_out + 1 WHERE id = ? AND since = ?');
    for (let i = 0; i < rows.length; i += 3) {
      const [id = '', since = 0, until = 0] = rows.slice(i, i + 3);
      move.run(until, id, since);
    }
    return null;
  },
  unwait: (ids) => {
    const remove = db.sql('DELETE FROM waiting WHERE id = ? RETURNING owner, size');
    return ids.flatMap((id) => {
      const removed = remove.get<WaitingSize>(id);
      return removed ? [[removed.owner, -removed.size] as const] : [];
    });
  },
  unwait_owner: (owner) => {
    const sum = db
      .sql('SELECT coalesce(sum(size), 0) AS size FROM waiting WHERE owner = ?')
      .get<{ size: number }>(owner);
    db.sql('DELETE FROM waiting WHERE owner = ?').run(owner);
    return [[owner, -(sum?.size ?? 0)]];
  },
});

/** Writes of the retry schedule, the timers, the usage counters and the vault in data.db. */
export const smallOperations = (db: Database): FileOperations => ({
  handlers: {
    ...waitingHandlers(db),
    ticks: (rows) => {
      const save = db.sql('INSERT INTO ticks VALUES (?, ?) ON CONFLICT DO UPDATE SET at = max(at, excluded.at)');
      for (let i = 0; i < rows.length; i += 2) save.run(rows[i] ?? '', rows[i + 1] ?? 0);
      return null;
    },
    drop_ticks: (source) => {
      const prefix = `${source}/`;
      db.sql('DELETE FROM ticks WHERE key >= ? AND key < ?').run(prefix, prefixEnd(prefix));
      return null;
    },
    usage: ({ day, rows }) => {
      const add = db.sql(
        `INSERT INTO usage VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET invocations = invocations +
         excluded.invocations, compute_ms = compute_ms + excluded.compute_ms, credits = credits + excluded.credits`,
      );
      for (let i = 0; i < rows.length; i += 4) {
        add.run(day, rows[i] ?? '', rows[i + 1] ?? 0, rows[i + 2] ?? 0, rows[i + 3] ?? 0);
      }
      return null;
    },
    put_secret: ({ ref, workspace, sealed }) => {
      db.sql('INSERT OR REPLACE INTO secrets VALUES (?, ?, ?)').run(ref, workspace, sealed);
      return null;
    },
    delete_secret: (ref) => {
      db.sql('DELETE FROM secrets WHERE ref = ?').run(ref);
      return null;
    },
  },
  reset: () => undefined,
});
