import { type Clock } from '#libs/kernel/clock.js';
import {
  failIfTooLarge,
  isNameOfRun,
  nameOf,
  namesOfRuns,
  type RunCommit,
  type RunJournal,
  type StateKey,
  type StoredRun,
  type StoredState,
} from '#libs/runner/run-journal.js';
import { pagesByKey } from '../pages.js';
import { textIn, type Database } from '../writer/sqlite-driver.js';
import { type EmbeddedStreamLog } from '../stream-log/stream-log.js';
import { type StateWrite } from '../writer/ops.js';
import { type OnWritten, type Writer } from '../writer/writer.js';

const DROPPED_AT_ONCE = 500;
/** How long the removal of a run waits for another write. A crash leaves the run to its next owner. */
const LINGER_MS = 20;

interface StateRow {
  readonly name: string;
  readonly version: number;
  readonly head: string;
}

/** RunJournal in data.db. A commit writes a state, its inbox and its records in one transaction. */
export class EmbeddedRunJournal implements RunJournal {
  constructor(
    private readonly writer: Writer,
    private readonly reader: Database,
    private readonly log: EmbeddedStreamLog,
    private readonly clock: Clock,
  ) {}

  async load(key: StateKey): Promise<StoredState> {
    const name = nameOf(key);
    const row = this.reader.sql('SELECT version, head FROM states WHERE name = ?').get<StateRow>(name);
    return { version: row?.version ?? 0, head: row?.head ?? '', parts: await this.partsOf(key) };
  }

  async partsOf(key: StateKey): Promise<StoredState['parts']> {
    const parts = this.reader
      .sql('SELECT part, text FROM state_parts WHERE name = ?')
      .all<{ part: string | Uint8Array; text: string }>(nameOf(key));
    return Object.fromEntries(parts.map(({ part, text }) => [textIn(part), text]));
  }

  async seen(key: StateKey, invocationIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = this.reader
      .sql('SELECT invocation FROM state_inbox WHERE name = ? AND invocation IN (SELECT value FROM json_each(?))')
      .all<{ invocation: string }>(nameOf(key), JSON.stringify(invocationIds));
    return new Set(rows.map(({ invocation }) => invocation));
  }

  commit(commit: RunCommit): Promise<void> {
    return this.commitAll([commit]);
  }

  async commitAll(commits: readonly RunCommit[]): Promise<void> {
    commits.forEach(failIfTooLarge);
    const at = this.clock.now();
    const prepared = await this.log.prepareAll(
      commits.flatMap(({ records }) => records),
      at,
    );
    const writes = commits.map((commit) => stateWrite(commit));
    let bytes = prepared.bytes;
    for (const { head, parts } of writes) {
      bytes += 300 + head.length;
      for (const text of parts) bytes += text?.length ?? 0;
    }
    return new Promise((resolve, reject) => {
      const written: OnWritten<'run'> = (error, offsets) => {
        if (error || offsets === undefined) {
          reject(error ?? new Error('the writer gave no result'));
          return;
        }
        this.log.appended(prepared.records, offsets, at);
        resolve();
      };
      this.writer.send('run', writes, written, { bytes, records: prepared });
    });
  }

  async runs(executable: string, after: string, limit: number): Promise<readonly StoredRun[]> {
    const { above, below } = namesOfRuns(executable);
    return this.reader
      .sql('SELECT name, version, head FROM states WHERE name > ? AND name < ? ORDER BY name LIMIT ?')
      .all<StateRow>(above + after, below, limit)
      .map(({ name, version, head }) => ({ run: name.slice(above.length), version, head }));
  }

  async *executables(): AsyncIterable<string> {
    const page = this.reader.sql('SELECT name FROM states WHERE name > ? AND name <= ? ORDER BY name LIMIT ?');
    const rows = pagesByKey<{ name: string }>(
      this.reader.sql('SELECT max(name) AS last FROM states').get<{ last: string | null }>()?.last,
      (after, last, limit) => page.all(after, last, limit),
      ({ name }) => name,
    );
    for (const { name } of rows) if (!isNameOfRun(name)) yield name;
  }

  async inbox(key: StateKey): Promise<readonly string[]> {
    return this.reader
      .sql('SELECT invocation FROM state_inbox WHERE name = ? ORDER BY seq')
      .all<{ invocation: string }>(nameOf(key))
      .map(({ invocation }) => invocation);
  }

  async dropRun(key: Required<StateKey>): Promise<void> {
    await this.writer.submit('drop_states', [nameOf(key)], { lingerMs: LINGER_MS });
  }

  /** Deletes page by page, because other writes wait for each page. */
  async drop(executable: string): Promise<void> {
    for (;;) {
      const runs = await this.runs(executable, '', DROPPED_AT_ONCE);
      const names = runs.map(({ run }) => nameOf({ executable, run }));
      await this.writer.submit('drop_states', runs.length < DROPPED_AT_ONCE ? [...names, executable] : names);
      if (runs.length < DROPPED_AT_ONCE) return;
    }
  }
}

const stateWrite = (commit: RunCommit): StateWrite => {
  const { expectedVersion, head, parts, inbox } = commit;
  return { name: nameOf(commit), expectedVersion, head, parts: Object.entries(parts).flat(), inbox };
};
