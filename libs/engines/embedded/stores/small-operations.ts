import { MINUTE_COUNTS } from '#libs/tenancy/published.js';
import { type FileOperations } from '../writer/group-commit.js';
import { type Database } from '../writer/sqlite-driver.js';

/** Upper bound of a prefix search over text keys: the first text after all that start with the prefix. */
export const prefixEnd = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

/** Writes of the timers, the usage counters and the vault in data.db. */
export const smallOperations = (db: Database): FileOperations => ({
  handlers: {
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
    minutes: ({ rows, kept }) => {
      const names = MINUTE_COUNTS.join(', ');
      const adds = MINUTE_COUNTS.map((name) => `${name} = ${name} + excluded.${name}`).join(', ');
      const add = db.sql(
        `INSERT INTO usage_minutes(minute, workspace, ${names}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET ${adds}`,
      );
      const width = 2 + MINUTE_COUNTS.length;
      for (let i = 0; i < rows.length; i += width) add.run(...rows.slice(i, i + width));
      db.sql('DELETE FROM usage_minutes WHERE minute < ?').run(kept);
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
