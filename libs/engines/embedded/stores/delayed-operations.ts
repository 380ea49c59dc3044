import { type FileOperations } from '../writer/group-commit.js';
import { type Database } from '../writer/sqlite-driver.js';

const COLUMNS = 6;

/** Writes of the events that wait, in data.db. */
export const delayedOperations = (db: Database): FileOperations => ({
  handlers: {
    delay: (rows) => {
      const put = db.sql(
        'INSERT OR REPLACE INTO delayed(source, sort, look_at, size, event, payload) VALUES (?, ?, ?, ?, ?, ?)',
      );
      for (let i = 0; i < rows.length; i += COLUMNS) put.run(...rows.slice(i, i + COLUMNS));
      return null;
    },
    put_off: ({ keys, until }) => {
      const update = db.sql('UPDATE delayed SET look_at = ? WHERE source = ? AND sort = ?');
      for (let i = 0; i < keys.length; i += 2) update.run(until, keys[i] ?? '', keys[i + 1] ?? '');
      return null;
    },
    undelay: (keys) => {
      const remove = db.sql('DELETE FROM delayed WHERE source = ? AND sort = ?');
      for (let i = 0; i < keys.length; i += 2) remove.run(keys[i] ?? '', keys[i + 1] ?? '');
      return null;
    },
    undelay_range: ({ source, from, to }) => {
      db.sql('DELETE FROM delayed WHERE source = ? AND sort >= ? AND sort <= ?').run(source, from, to);
      return null;
    },
  },
  reset: () => undefined,
});
