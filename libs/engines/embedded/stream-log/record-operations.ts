import { type FileOperations } from '../writer/group-commit.js';
import { type Offsets, type Ops, type RecordRows } from '../writer/ops.js';
import { type Database } from '../writer/sqlite-driver.js';

export interface RecordAppender {
  append(rows: RecordRows, at: number): Offsets;
}

/** Writes of the stream log's tables in data.db. */
export const recordOperations = (db: Database): FileOperations & RecordAppender => {
  let lastId = -1;
  let live = new Set<number>();
  let stale = true;

  const beforeGroup = (): void => {
    if (!stale) return;
    // Never reuse the offset of a dropped record, because groups have committed past it.
    const row = db
      .sql('SELECT max(coalesce((SELECT max(id) FROM records), -1), (SELECT id FROM last_record)) AS id')
      .get<{ id: number }>();
    lastId = row?.id ?? -1;
    live = new Set(
      db
        .sql('SELECT id FROM topics')
        .all<{ id: number }>()
        .map(({ id }) => id),
    );
    stale = false;
  };

  const append = (rows: RecordRows, at: number): Offsets => {
    const insert = db.sql('INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)');
    const first = lastId + 1;
    const offsets: (number | null)[] = [];
    let dropped = false;
    for (let i = 0; i < rows.length; i += 5) {
      const topic = rows[i] as number;
      if (!live.has(topic)) {
        dropped = true;
        offsets.push(null);
        continue;
      }
      const [size, key, headers, value] = rows.slice(i + 1, i + 5) as [number, string, string, string];
      insert.run(++lastId, topic, size, at, key, headers, value);
      offsets.push(lastId);
    }
    return dropped ? offsets : first;
  };

  const keepLastId = (): unknown => db.sql('UPDATE last_record SET id = ?').run(lastId);

  const topics = topicOperations(db, {
    created: (id) => live.add(id),
    deleted: (id) => live.delete(id),
    keepLastId,
  });

  return {
    append,
    handlers: {
      ...topics,
      publish: ({ rows, at }) => append(rows, at),
      commit: (groups) => commit(db, live, groups),
      drop: (ranges) => {
        keepLastId();
        return drop(db, ranges);
      },
    },
    beforeGroup,
    reset: () => {
      stale = true;
    },
  };
};

const commit = (db: Database, live: ReadonlySet<number>, groups: Ops['commit']['args']): null => {
  const upsert = db.sql(
    'INSERT INTO commits VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET committed = excluded.committed',
  );
  for (const { group, rows } of groups) {
    for (let i = 0; i < rows.length; i += 2) {
      const topic = rows[i] ?? -1;
      if (live.has(topic)) upsert.run(topic, group, rows[i + 1] ?? -1);
    }
  }
  return null;
};

const drop = (db: Database, ranges: readonly number[]): null => {
  const remove = db.sql('DELETE FROM records WHERE topic = ? AND id <= ?');
  for (let i = 0; i < ranges.length; i += 2) remove.run(ranges[i] ?? -1, ranges[i + 1] ?? -1);
  return null;
};

interface TopicChanges {
  created(id: number): void;
  deleted(id: number): void;
  keepLastId(): unknown;
}

const topicOperations = (db: Database, changes: TopicChanges): FileOperations['handlers'] => ({
  create_topic: ({ name, ageMs, bytes, dropConsumed }) => {
    const row = db
      .sql(
        `INSERT INTO topics(name, age_ms, bytes, drop_consumed) VALUES (?, ?, ?, ?)
         ON CONFLICT(name) DO UPDATE SET
           age_ms = excluded.age_ms, bytes = excluded.bytes, drop_consumed = excluded.drop_consumed
         RETURNING id`,
      )
      .all<{ id: number }>(name, ageMs, bytes, dropConsumed ? 1 : 0)[0];
    if (!row) throw new Error(`topic ${name} was not created`);
    changes.created(row.id);
    return row.id;
  },
  delete_topic: ({ id, name }) => {
    // The records are deleted later in small steps (purge), so that a long topic does not hold up the writer.
    db.sql('DELETE FROM topics WHERE id = ?').run(id);
    db.sql('DELETE FROM commits WHERE topic = ?').run(id);
    db.sql('DELETE FROM groups WHERE topic = ? AND is_prefix = 0').run(name);
    db.sql('INSERT OR IGNORE INTO dropped_topics VALUES (?)').run(id);
    changes.deleted(id);
    return null;
  },
  purge: ({ limit }) => {
    const topic = db.sql('SELECT id FROM dropped_topics LIMIT 1').get<{ id: number }>();
    if (!topic) return -1;
    changes.keepLastId();
    const gone = db
      .sql('DELETE FROM records WHERE id IN (SELECT id FROM records WHERE topic = ? LIMIT ?) RETURNING 1')
      .all(topic.id, limit).length;
    if (gone < limit) db.sql('DELETE FROM dropped_topics WHERE id = ?').run(topic.id);
    return gone;
  },
  group: ({ name, topics, prefix, at }) => {
    const upsert = db.sql(
      'INSERT INTO groups VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET seen_at = excluded.seen_at',
    );
    for (const topic of topics) upsert.run(name, topic, prefix ? 1 : 0, at);
    return null;
  },
});
