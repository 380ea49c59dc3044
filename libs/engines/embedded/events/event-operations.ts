import { BoundedMap } from '#libs/kernel/bounded-map.js';
import { Refused, type FileOperations } from '../writer/group-commit.js';
import { type Ops } from '../writer/ops.js';
import { type Database } from '../writer/sqlite-driver.js';

/** Number of arguments of `append` for each event: id, type, data, metadata. */
const WIDTH = 4;

/** Writes of events.db. Revision -1 stands for a stream that does not exist. Positions start at 1. */
export const eventOperations = (db: Database): FileOperations => {
  const revisions = new BoundedMap<string, number>(10_000);
  const lastPosition = (): number =>
    db.sql('SELECT max(position) AS position FROM events').get<{ position: number | null }>()?.position ?? 0;
  let position = lastPosition();

  const revisionOf = (stream: string): number => {
    const known = revisions.get(stream);
    if (known !== undefined) return known;
    const row = db
      .sql('SELECT max(revision) AS revision FROM events WHERE stream = ?')
      .get<{ revision: number | null }>(stream);
    return row?.revision ?? -1;
  };

  /** Result of the first append when this one repeats it: the same ids are stored where this one would write. */
  const repeated = ({ stream, expected, events }: Ops['append']['args']): Ops['append']['result'] | undefined => {
    const count = events.length / WIDTH;
    const stored = db
      .sql('SELECT id, revision, position FROM events WHERE stream = ? AND revision > ? ORDER BY revision LIMIT ?')
      .all<{ id: string; revision: number; position: number }>(stream, expected, count);
    if (stored.length !== count || stored.some((row, i) => row.id !== events[i * WIDTH])) return undefined;
    const last = stored.at(-1);
    return last && { revision: last.revision, position: last.position };
  };

  const append = (args: Ops['append']['args']): Ops['append']['result'] => {
    const { stream, expected, events, at } = args;
    const actual = revisionOf(stream);
    if (actual !== expected) {
      const first = actual > expected ? repeated(args) : undefined;
      if (first) return first;
      throw new Refused({ rule: 'revision', stream, expected, actual });
    }
    const insert = db.sql('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
    let revision = actual;
    for (let i = 0; i < events.length; i += WIDTH) {
      const [id = '', type = '', data = '', metadata = ''] = events.slice(i, i + WIDTH);
      insert.run(++position, stream, ++revision, id, type, data, metadata, at);
    }
    revisions.set(stream, revision);
    return { revision, position };
  };

  return {
    handlers: { append },
    reset: () => {
      revisions.clear();
      // Read again only after the rollback, because a transaction may still be open here.
      position = -1;
    },
    beforeGroup: () => {
      if (position < 0) position = lastPosition();
    },
  };
};
