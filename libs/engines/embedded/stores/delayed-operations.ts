import { type FileOperations } from '../writer/group-commit.js';
import { type Database } from '../writer/sqlite-driver.js';

const COLUMNS = 5;

/** Writes of the events that wait, in data.db. */
export const delayedOperations = (db: Database): FileOperations => ({
  handlers: {
    delay: (rows) => {
      const put = db.sql('INSERT OR REPLACE INTO delayed(source, sort, size, event, payload) VALUES (?, ?, ?, ?, ?)');
      for (let i = 0; i < rows.length; i += COLUMNS) put.run(...rows.slice(i, i + COLUMNS));
      return null;
    },
    undelay: (keys) => {
      const remove = db.sql('DELETE FROM delayed WHERE source = ? AND sort = ?');
      for (let i = 0; i < keys.length; i += 2) remove.run(keys[i] ?? '', keys[i + 1] ?? '');
      return null;
    },
    undelay_range: ({ source, from, to }) =>
      db
        .sql('DELETE FROM delayed WHERE source = ? AND sort >= ? AND sort <= ? RETURNING sort')
        .all<{ sort: string }>(source, from, to)
        .map(({ sort }) => sort),
  },
  reset: () => undefined,
});
