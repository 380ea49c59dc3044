import { type FileOperations } from '../writer/group-commit.js';
import { type Offsets, type Ops } from '../writer/ops.js';
import { type Database } from '../writer/sqlite-driver.js';
import { lastOffset, OpenChunks } from './chunks.js';
import { RecordCursor } from './packed-records.js';

export interface RecordAppender {
  append(records: Buffer): Offsets;
}

/** Writes of the stream log's tables in data.db. */
export const recordOperations = (db: Database): FileOperations & RecordAppender => {
  let lastId = -1;
  let live = new Set<number>();
  let stale = true;
  const chunks = new OpenChunks();

  const beforeGroup = (): void => {
    if (!stale) return;
    lastId = lastOffset(db);
    live = topicsIn(db);
    stale = false;
  };

  const append = (records: Buffer): Offsets => {
    const first = lastId + 1;
    const offsets: (number | null)[] = [];
    let dropped = false;
    const record = new RecordCursor(records);
    while (record.forward()) {
      if (!live.has(record.topic)) {
        dropped = true;
        offsets.push(null);
        continue;
      }
      const offset = ++lastId;
      chunks.add(record.topic, record, offset);
      offsets.push(offset);
    }
    return dropped ? offsets : first;
  };

  const keepLastId = (): unknown => db.sql('UPDATE last_record SET id = ?').run(lastId);

  const topics = topicOperations(db, {
    created: (id) => live.add(id),
    deleted: (id) => {
      live.delete(id);
      chunks.forget(id);
    },
    keepLastId,
  });

  return {
    append,
    handlers: {
      ...topics,
      publish: (_, records) => append(records),
      commit: (groups) => commit(db, live, groups),
      drop: (ranges) => {
        keepLastId();
        return drop(db, ranges);
      },
    },
    beforeGroup,
    beforeCommit: () => chunks.write(db),
    reset: () => {
      chunks.clear();
      stale = true;
    },
  };
};

const topicsIn = (db: Database): Set<number> =>
  new Set(
    db
      .sql('SELECT id FROM topics')
      .all<{ id: number }>()
      .map(({ id }) => id),
  );

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
  const remove = db.sql('DELETE FROM chunks WHERE topic = ? AND last <= ?');
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
    // The records are deleted later in small steps (purge), so that a long topic does not delay the writer.
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
      .sql('DELETE FROM chunks WHERE last IN (SELECT last FROM chunks WHERE topic = ? LIMIT ?) RETURNING 1')
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
