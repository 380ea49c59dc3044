import { UnusableDataDirectory } from '#libs/config/unusable-data-directory.js';
import { type Database } from './sqlite-driver.js';

/** A file of the data directory. Each has one writing and one reading connection. */
export type FileName = 'events' | 'data' | 'read';
export const FILES: readonly FileName[] = ['events', 'data', 'read'];

/** read.db can be rebuilt from the logs, so losing its last commits in a power cut costs a replay, not data. */
export const synchronousOf = (file: FileName): 'FULL' | 'NORMAL' => (file === 'read' ? 'NORMAL' : 'FULL');

/** Number of the schema of all files. Raise it when the tables of one change. */
export const SCHEMA = 7;

const EVENTS = `
  CREATE TABLE events(
    position INTEGER PRIMARY KEY, stream TEXT NOT NULL, revision INTEGER NOT NULL, id TEXT NOT NULL,
    type TEXT NOT NULL, data TEXT NOT NULL, metadata TEXT NOT NULL, recorded_at INTEGER NOT NULL);
  CREATE UNIQUE INDEX events_by_stream ON events(stream, revision);`;

const DATA = `
  CREATE TABLE topics(
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
    age_ms INTEGER, bytes INTEGER, drop_consumed INTEGER NOT NULL);
  CREATE TABLE dropped_topics(id INTEGER PRIMARY KEY);

  -- A row holds the records of one topic that commit together, and is keyed by the offset of the last
  -- (stream-log/chunks.ts). All topics share one sequence, so appends go to the end of the table. The index carries the
  -- size, so the bytes of a topic are summed without touching the records.
  CREATE TABLE chunks(
    last INTEGER PRIMARY KEY, topic INTEGER NOT NULL, first INTEGER NOT NULL, n INTEGER NOT NULL,
    size INTEGER NOT NULL, at INTEGER NOT NULL, records BLOB NOT NULL);
  CREATE INDEX chunks_by_topic ON chunks(topic, last, first, n, size, at);
  CREATE TABLE last_record(one INTEGER PRIMARY KEY CHECK (one = 1), id INTEGER NOT NULL);
  INSERT INTO last_record VALUES (1, -1);
  CREATE TABLE groups(
    name TEXT NOT NULL, topic TEXT NOT NULL, is_prefix INTEGER NOT NULL, seen_at INTEGER NOT NULL,
    PRIMARY KEY (name, topic, is_prefix)) WITHOUT ROWID;
  CREATE TABLE commits(
    topic INTEGER NOT NULL, grp TEXT NOT NULL, committed INTEGER NOT NULL, PRIMARY KEY (topic, grp)) WITHOUT ROWID;

  -- A name is that of an executable, or of one of its runs (runner/run-journal.ts).
  CREATE TABLE states(name TEXT PRIMARY KEY, version INTEGER NOT NULL, head TEXT NOT NULL);
  CREATE TABLE state_parts(name TEXT NOT NULL, part TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (name, part));
  CREATE TABLE state_inbox(
    name TEXT NOT NULL, invocation TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (name, invocation)) WITHOUT ROWID;

  -- \`since\` is when an entry is due next, which is later than due_at while it is out. The indexes carry the owner, so
  -- owners are passed over, and the size, so all bytes are summed at start, without touching the records.
  CREATE TABLE due(
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, kind TEXT NOT NULL, due_at INTEGER NOT NULL, record TEXT NOT NULL,
    size INTEGER NOT NULL, since INTEGER NOT NULL, times_out INTEGER NOT NULL DEFAULT 0);
  CREATE INDEX due_by_time ON due(since, id, owner);
  CREATE INDEX due_by_owner ON due(owner, size);
  CREATE TABLE delayed(
    source TEXT NOT NULL, sort TEXT NOT NULL, size INTEGER NOT NULL,
    event TEXT NOT NULL, payload TEXT NOT NULL, PRIMARY KEY (source, sort)) WITHOUT ROWID;
  CREATE INDEX delayed_by_size ON delayed(source, size);
  CREATE TABLE ticks(key TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;

  CREATE TABLE secrets(ref TEXT PRIMARY KEY, workspace TEXT NOT NULL, sealed BLOB NOT NULL);
  CREATE TABLE usage(
    day INTEGER NOT NULL, workspace TEXT NOT NULL,
    invocations INTEGER NOT NULL, compute_ms INTEGER NOT NULL, credits INTEGER NOT NULL,
    PRIMARY KEY (day, workspace)) WITHOUT ROWID;
  CREATE TABLE usage_minutes(
    workspace TEXT NOT NULL, minute INTEGER NOT NULL,
    arrivals INTEGER NOT NULL, runs INTEGER NOT NULL, errors INTEGER NOT NULL,
    events INTEGER NOT NULL, attempts INTEGER NOT NULL, failed INTEGER NOT NULL,
    PRIMARY KEY (workspace, minute)) WITHOUT ROWID;
  CREATE INDEX usage_minutes_by_time ON usage_minutes(minute);
  CREATE TABLE store_records(
    store TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, expires_at INTEGER, size INTEGER NOT NULL,
    PRIMARY KEY (store, key));
  CREATE INDEX store_records_by_end ON store_records(expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE store_sizes(
    store TEXT PRIMARY KEY, workspace TEXT NOT NULL, keys INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX store_sizes_by_workspace ON store_sizes(workspace, bytes);

  -- Runs of workflows as users read them (workflow-history/run-history.ts). A place grows with the arrival. The indexes
  -- hold what lists filter by, so rows that do not match are passed over in the index. Most runs succeed, so the others
  -- have an index of their own.
  CREATE TABLE run_history(
    place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, workflow TEXT NOT NULL, workspace TEXT NOT NULL,
    version INTEGER NOT NULL, state TEXT NOT NULL, test INTEGER NOT NULL, trigger_type TEXT NOT NULL,
    trigger_name TEXT, deployed INTEGER, trace TEXT NOT NULL, replay_of TEXT, ended INTEGER, bytes INTEGER NOT NULL,
    head TEXT NOT NULL, origin TEXT NOT NULL, end_text TEXT, summaries TEXT NOT NULL);
  CREATE INDEX run_history_by_workflow
    ON run_history(workflow, place, test, state, trigger_type, trigger_name, deployed);
  CREATE INDEX run_history_by_workspace
    ON run_history(workspace, place, test, state, trigger_type, trigger_name, deployed, ended, bytes);
  CREATE INDEX run_history_not_succeeded_by_workflow
    ON run_history(workflow, place, state, test) WHERE state <> 'succeeded';
  CREATE INDEX run_history_not_succeeded_by_workspace
    ON run_history(workspace, place, state, test) WHERE state <> 'succeeded';
  CREATE INDEX run_history_by_end ON run_history(workflow, ended) WHERE ended IS NOT NULL;
  CREATE INDEX run_history_by_trace ON run_history(trace) WHERE trace <> id;
  CREATE INDEX run_history_by_replayed ON run_history(replay_of) WHERE replay_of IS NOT NULL;
  CREATE TABLE run_history_texts(
    place INTEGER NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (place, name));
  -- The words of a run, and its workflow and workspace with a \`_\` before them, which no word has. A beginning of a word
  -- that has an index of its length is read row by row. Without one, all runs with a word that begins so are read first.
  CREATE VIRTUAL TABLE run_history_words USING fts5(
    words, content = '', contentless_delete = 1, detail = none, prefix = '1 2 3 4 5 6 7 8 9 10',
    tokenize = "unicode61 remove_diacritics 0 tokenchars '_'");`;

const READ = `
  CREATE TABLE collections(
    name TEXT PRIMARY KEY, shape TEXT NOT NULL, active INTEGER NOT NULL, last_generation INTEGER NOT NULL);
  CREATE TABLE checkpoints(
    collection TEXT NOT NULL, generation INTEGER NOT NULL, checkpoint TEXT,
    PRIMARY KEY (collection, generation)) WITHOUT ROWID;`;

const TABLES: Readonly<Record<FileName, string>> = { events: EVENTS, data: DATA, read: READ };

/**
 * Makes the tables of a new file, in one transaction. Throws UnusableDataDirectory when the file has another schema.
 */
export const ensureSchema = (file: FileName, db: Database): void => {
  const stored = db.sql('PRAGMA user_version').get<{ user_version: number }>()?.user_version ?? 0;
  if (stored === SCHEMA) return;
  if (stored !== 0) {
    throw new UnusableDataDirectory(
      `${db.path} has schema ${stored}, and this version of Sluice needs schema ${SCHEMA}: ` +
        `start the version that wrote it, or set SLUICE_DATA_DIR to another folder. Nothing was changed`,
    );
  }
  db.exec('BEGIN IMMEDIATE');
  try {
    db.exec(TABLES[file]);
    db.exec(`PRAGMA user_version = ${SCHEMA}`);
    db.exec('COMMIT');
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
};
