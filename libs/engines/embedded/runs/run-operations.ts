import { BoundedMap } from '#libs/kernel/bounded-map.js';
import { Refused, type FileOperations } from '../writer/group-commit.js';
import { type Ops } from '../writer/ops.js';
import { type RecordAppender } from '../stream-log/record-operations.js';
import { type Database } from '../writer/sqlite-driver.js';

/** A source remembers at least this many of its newest invocation ids, and at most half as many again. */
export const INBOX_KEPT = 1000;
const INBOX_SLACK = 500;

interface State {
  version: number;
  through: number;
  above: string;
  lastEventId: string;
}

/** Writes of the run journal in data.db. Its emits go to the stream log's table in the same transaction. */
export const runOperations = (db: Database, log: RecordAppender): FileOperations => {
  const versions = new BoundedMap<string, number>(10_000);
  const inboxes = new BoundedMap<string, { seq: number; count: number }>(10_000);
  /** States not written yet. A source that commits ten times in one group has its state row written once. */
  const unwritten = new Map<string, State>();

  const versionOf = (source: string): number =>
    unwritten.get(source)?.version ??
    versions.get(source) ??
    db.sql('SELECT version FROM source_state WHERE source = ?').get<{ version: number }>(source)?.version ??
    0;

  const run = (commit: Ops['run']['args'], records: Buffer): Ops['run']['result'] => {
    const { sourceId: source, expectedVersion: expected } = commit;
    const actual = versionOf(source);
    if (actual !== expected) throw new Refused({ rule: 'state', source, expected, actual });
    const { through, above, lastEventId } = commit;
    unwritten.set(source, { version: actual + 1, through, above, lastEventId });
    writeCaches(db, commit);
    writeHeard(db, commit);
    if (commit.inbox.length > 0) remember(db, inboxes, source, commit.inbox);
    return log.append(records);
  };

  return {
    handlers: {
      run,
      drop_source: (source) => {
        for (const table of ['source_state', 'source_dedupe', 'source_db', 'source_inbox', 'source_heard']) {
          db.sql(`DELETE FROM ${table} WHERE source = ?`).run(source);
        }
        unwritten.delete(source);
        versions.delete(source);
        inboxes.delete(source);
        return null;
      },
    },
    beforeCommit: () => {
      const upsert = db.sql('INSERT OR REPLACE INTO source_state VALUES (?, ?, ?, ?, ?)');
      for (const [source, { version, through, above, lastEventId }] of unwritten) {
        upsert.run(source, version, through, above, lastEventId);
        versions.set(source, version);
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

const writeCaches = (db: Database, { sourceId, dedupe, db: changes }: Ops['run']['args']): void => {
  for (let i = 0; i < dedupe.length; i += 2) {
    const [channel, cache] = [dedupe[i] ?? '', dedupe[i + 1] ?? null];
    if (cache === null) db.sql('DELETE FROM source_dedupe WHERE source = ? AND channel = ?').run(sourceId, channel);
    else db.sql('INSERT OR REPLACE INTO source_dedupe VALUES (?, ?, ?)').run(sourceId, channel, cache);
  }
  for (let i = 0; i < changes.length; i += 2) {
    const [key, value] = [changes[i] ?? '', changes[i + 1] ?? null];
    if (value === null) db.sql('DELETE FROM source_db WHERE source = ? AND key = ?').run(sourceId, key);
    else db.sql('INSERT OR REPLACE INTO source_db VALUES (?, ?, ?)').run(sourceId, key, value);
  }
};

const writeHeard = (db: Database, { sourceId, heard }: Ops['run']['args']): void => {
  for (let i = 0; i < heard.length; i += 3) {
    const [key, through, above] = [heard[i] ?? '', heard[i + 1] ?? null, heard[i + 2] ?? ''];
    if (through === null) db.sql('DELETE FROM source_heard WHERE source = ? AND key = ?').run(sourceId, key);
    else db.sql('INSERT OR REPLACE INTO source_heard VALUES (?, ?, ?, ?)').run(sourceId, key, through, above);
  }
};

const remember = (
  db: Database,
  inboxes: BoundedMap<string, { seq: number; count: number }>,
  source: string,
  invocations: readonly string[],
): void => {
  let inbox = inboxes.get(source);
  if (!inbox) {
    const row = db
      .sql('SELECT coalesce(max(seq), 0) AS seq, count(*) AS count FROM source_inbox WHERE source = ?')
      .get<{ seq: number; count: number }>(source);
    inbox = row ?? { seq: 0, count: 0 };
    inboxes.set(source, inbox);
  }
  const insert = db.sql('INSERT OR REPLACE INTO source_inbox VALUES (?, ?, ?)');
  for (const invocation of invocations) insert.run(source, invocation, ++inbox.seq);
  inbox.count += invocations.length;
  if (inbox.count < INBOX_KEPT + INBOX_SLACK) return;
  const oldestKept = db
    .sql('SELECT seq FROM source_inbox WHERE source = ? ORDER BY seq DESC LIMIT 1 OFFSET ?')
    .get<{ seq: number }>(source, INBOX_KEPT - 1);
  if (oldestKept) db.sql('DELETE FROM source_inbox WHERE source = ? AND seq < ?').run(source, oldestKept.seq);
  inbox.count = INBOX_KEPT;
};
