import { dictionary } from '#libs/kernel/dictionary.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { failIfTooLarge, type RunCommit, type RunJournal, type SourceState, StateConflict } from '../run-journal.js';

const EMPTY: SourceState = {
  version: 0,
  progress: { through: -1, above: [] },
  dedupe: {},
  db: {},
  heard: {},
  lastEventId: '',
};

/** Number of a source's newest invocation ids that are remembered. */
const REMEMBERED = 1_000;

/** A RunJournal for specs, with failures on demand. Commits survive a new runner, as after a crash. */
export class InMemoryJournal implements RunJournal {
  readonly states = new Map<string, SourceState>();
  readonly remembered = new Map<string, Set<string>>();
  readonly commits: RunCommit[] = [];
  /** Number of next commits that fail, as on a full disk. */
  failures = 0;
  /** Number of next calls of `seen` that fail. */
  failuresToAsk = 0;
  /** Number of next calls of `load` that fail. */
  failuresToLoad = 0;
  /** Promise that commits wait for, when set. */
  held: Promise<void> | undefined;
  /** Number of commits that wait for `held`. */
  waiting = 0;

  /** @param log receives the records of each commit together with its state. */
  constructor(private readonly log = new InMemoryStreamLog()) {}

  /** Records of all commits, also those whose topic does not exist. */
  get records(): readonly LogRecord[] {
    return this.commits.flatMap(({ records }) => records);
  }

  async load(sourceId: string): Promise<SourceState> {
    if (this.failuresToLoad > 0) {
      this.failuresToLoad--;
      throw new Error('the journal cannot be read');
    }
    return this.states.get(sourceId) ?? EMPTY;
  }

  async seen(sourceId: string, invocationIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (this.failuresToAsk > 0) {
      this.failuresToAsk--;
      throw new Error('the journal cannot be read');
    }
    const known = this.remembered.get(sourceId) ?? new Set<string>();
    return new Set(invocationIds.filter((id) => known.has(id)));
  }

  async commit(commit: RunCommit): Promise<void> {
    this.waiting++;
    await this.held;
    this.waiting--;
    if (this.failures > 0) {
      this.failures--;
      throw new Error('disk is full');
    }
    failIfTooLarge(commit);
    const state = this.states.get(commit.sourceId) ?? EMPTY;
    if (state.version !== commit.expectedVersion) {
      throw new StateConflict(commit.sourceId, commit.expectedVersion, state.version);
    }
    const db = dictionary(state.db);
    for (const [key, value] of Object.entries(commit.dbChanges)) {
      if (value === null) delete db[key];
      else db[key] = value;
    }
    const dedupe = dictionary(state.dedupe);
    for (const [channel, cache] of Object.entries(commit.dedupe)) {
      delete dedupe[channel];
      if (cache !== null) dedupe[channel] = cache;
    }
    const heard = dictionary(state.heard);
    for (const [key, changed] of Object.entries(commit.heard ?? {})) {
      if (changed === null) delete heard[key];
      else heard[key] = changed;
    }
    const { progress, lastEventId } = commit;
    this.states.set(commit.sourceId, { version: state.version + 1, progress, dedupe, db, heard, lastEventId });
    const inbox = this.remembered.get(commit.sourceId) ?? new Set<string>();
    for (const id of commit.inbox) {
      // A repeated id counts as new.
      inbox.delete(id);
      inbox.add(id);
    }
    this.remembered.set(commit.sourceId, new Set([...inbox].slice(-REMEMBERED)));
    this.log.append(commit.records);
    this.commits.push(commit);
  }

  async *sources(): AsyncIterable<string> {
    yield* this.states.keys();
  }

  async inbox(sourceId: string): Promise<readonly string[]> {
    return [...(this.remembered.get(sourceId) ?? [])];
  }

  async drop(sourceId: string): Promise<void> {
    this.states.delete(sourceId);
    this.remembered.delete(sourceId);
  }
}
