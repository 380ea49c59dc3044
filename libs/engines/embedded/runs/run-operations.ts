import { BoundedMap } from '#libs/kernel/bounded-map.js';
import { Refused, type FileOperations } from '../writer/group-commit.js';
import { type Ops, type StateWrite } from '../writer/ops.js';
import { type RecordAppender } from '../stream-log/record-operations.js';
import { type Database } from '../writer/sqlite-driver.js';

/** A state remembers at least this many of its newest invocation ids, and at most half as many again. */
export const INBOX_KEPT = 1000;
const INBOX_SLACK = 500;

const TABLES = ['states', 'state_parts', 'state_inbox'] as const;

interface State {
  readonly version: number;
  readonly head: string;
}

/** Writes of the run journal in data.db. Its records go to the stream log's table in the same transaction. */
export const runOperations = (db: Database, log: RecordAppender): FileOperations => {
  const versions = new BoundedMap<string, number>(10_000);
  const inboxes = new BoundedMap<string, { seq: number; count: number }>(10_000);
  /** States not written yet. A source that commits ten times in one group has its row written once. */
  const unwritten = new Map<string, State>();

  const versionOf = (name: string): number =>
    unwritten.get(name)?.version ??
    versions.get(name) ??
    db.sql('SELECT version FROM states WHERE name = ?').get<{ version: number }>(name)?.version ??
    0;

  const run = (commits: Ops['run']['args'], records: Buffer): Ops['run']['result'] => {
    for (const { name, expectedVersion: expected } of commits) {
      const actual = versionOf(name);
      if (actual !== expected) throw new Refused({ rule: 'state', name, expected, actual });
    }
    for (const commit of commits) {
      const { name, expectedVersion, head, inbox } = commit;
      unwritten.set(name, { version: expectedVersion + 1, head });
      writeParts(db, commit);
      if (inbox.length > 0) remember(db, inboxes, name, inbox);
    }
    return log.append(records);
  };

  return {
    handlers: {
      run,
      drop_states: (names) => {
        for (const name of names) {
          for (const table of TABLES) db.sql(`DELETE FROM ${table} WHERE name = ?`).run(name);
          unwritten.delete(name);
          versions.delete(name);
          inboxes.delete(name);
        }
        return null;
      },
    },
    beforeCommit: () => {
      const upsert = db.sql('INSERT OR REPLACE INTO states VALUES (?, ?, ?)');
      for (const [name, { version, head }] of unwritten) {
        upsert.run(name, version, head);
        versions.set(name, version);
      }
      unwritten.clear();
    },
    reset: () => {
      unwritten.clear();
      versions.clear();
      inboxes.clear();
    },
  };
};

const writeParts = (db: Database, { name, parts }: StateWrite): void => {
  for (let i = 0; i < parts.length; i += 2) {
    const [part, text] = [parts[i] ?? '', parts[i + 1] ?? null];
    if (text === null) db.sql('DELETE FROM state_parts WHERE name = ? AND part = ?').run(name, part);
    else db.sql('INSERT OR REPLACE INTO state_parts VALUES (?, ?, ?)').run(name, part, text);
  }
};

const remember = (
  db: Database,
  inboxes: BoundedMap<string, { seq: number; count: number }>,
  name: string,
  invocations: readonly string[],
): void => {
  let inbox = inboxes.get(name);
  if (!inbox) {
    const row = db
      .sql('SELECT coalesce(max(seq), 0) AS seq, count(*) AS count FROM state_inbox WHERE name = ?')
      .get<{ seq: number; count: number }>(name);
    inbox = row ?? { seq: 0, count: 0 };
    inboxes.set(name, inbox);
  }
  const insert = db.sql('INSERT OR REPLACE INTO state_inbox VALUES (?, ?, ?)');
  for (const invocation of invocations) insert.run(name, invocation, ++inbox.seq);
  inbox.count += invocations.length;
  if (inbox.count < INBOX_KEPT + INBOX_SLACK) return;
  const oldestKept = db
    .sql('SELECT seq FROM state_inbox WHERE name = ? ORDER BY seq DESC LIMIT 1 OFFSET ?')
    .get<{ seq: number }>(name, INBOX_KEPT - 1);
  if (oldestKept) db.sql('DELETE FROM state_inbox WHERE name = ? AND seq < ?').run(name, oldestKept.seq);
  inbox.count = INBOX_KEPT;
};
