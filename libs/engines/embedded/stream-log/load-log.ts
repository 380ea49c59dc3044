import { type Retention } from '#libs/stream-log/stream-log.js';
import { lastOffset } from './chunks.js';
import { Group } from './group.js';
import { type Database } from '../writer/sqlite-driver.js';
import { Topic } from './topic.js';

interface TopicRow {
  readonly id: number;
  readonly name: string;
  readonly age_ms: number | null;
  readonly bytes: number | null;
  readonly drop_consumed: number;
}

const retentionOf = (row: TopicRow): Retention => ({
  ...(row.age_ms === null ? {} : { ageMs: row.age_ms }),
  ...(row.bytes === null ? {} : { bytes: row.bytes }),
  dropConsumed: row.drop_consumed === 1,
});

/** Loads the state that the stream log holds in memory from the file at start. */
export const loadLog = (
  reader: Database,
  now: number,
): { topics: Map<string, Topic>; groups: Map<string, Group>; lastId: number } => {
  const lastId = lastOffset(reader);
  const topics = new Map<string, Topic>();
  for (const row of reader.sql('SELECT * FROM topics').all<TopicRow>()) {
    topics.set(row.name, new Topic(row.id, row.name, retentionOf(row), lastId));
  }
  const groups = new Map<string, Group>();
  const groupOf = (name: string): Group => {
    const group = groups.get(name) ?? new Group(name, now);
    groups.set(name, group);
    return group;
  };
  const selectors = reader
    .sql('SELECT name, topic, is_prefix FROM groups')
    .all<{ name: string; topic: string; is_prefix: number }>();
  for (const row of selectors) groupOf(row.name).add(row.topic, row.is_prefix === 1);
  const commits = reader.sql('SELECT topic, grp, committed FROM commits');
  for (const row of commits.all<{ topic: number; grp: string; committed: number }>()) {
    groupOf(row.grp).committed.set(row.topic, row.committed);
  }
  return { topics, groups, lastId };
};
