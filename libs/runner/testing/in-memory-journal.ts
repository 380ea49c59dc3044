import { dictionary } from '#libs/kernel/dictionary.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { type LaneState, laneStateOf } from '../lane-state.js';
import { type SourceState, sourceStateOf } from '../source/source-state.js';
import {
  failIfTooLarge,
  isNameOfRun,
  nameOf,
  namesOfRuns,
  type RunCommit,
  type RunJournal,
  StateConflict,
  type StateKey,
  type StoredRun,
  type StoredState,
} from '../run-journal.js';

const EMPTY: StoredState = { version: 0, head: '', parts: {} };

/** Number of the newest invocation ids that are remembered for a state. */
const REMEMBERED = 1_000;

/** In-memory RunJournal for specs, with failures on demand. Commits survive a new runner, as after a crash. */
export class InMemoryJournal implements RunJournal {
  readonly states = new Map<string, StoredState>();
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

  /** Records of all commits, including those whose topic does not exist, without those that tell of runs. */
  get records(): readonly LogRecord[] {
    return this.commits.flatMap(({ records }) => records.filter(({ headers }) => headers['kind'] !== 'runs'));
  }

  /** Progress of an executable in its lane. */
  laneOf(executable: string): LaneState {
    return laneStateOf(this.states.get(executable) ?? EMPTY);
  }

  /** `$.service.db` of a source. */
  dbOf(executable: string): SourceState['db'] {
    return sourceStateOf(this.laneOf(executable).own).db;
  }

  async load(key: StateKey): Promise<StoredState> {
    if (this.failuresToLoad > 0) {
      this.failuresToLoad--;
      throw new Error('the journal cannot be read');
    }
    return this.states.get(nameOf(key)) ?? EMPTY;
  }

  async partsOf(key: StateKey): Promise<StoredState['parts']> {
    return (this.states.get(nameOf(key)) ?? EMPTY).parts;
  }

  async seen(key: StateKey, invocationIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (this.failuresToAsk > 0) {
      this.failuresToAsk--;
      throw new Error('the journal cannot be read');
    }
    const known = this.remembered.get(nameOf(key)) ?? new Set<string>();
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
    const name = nameOf(commit);
    const { version, parts: before } = this.states.get(name) ?? EMPTY;
    if (version !== commit.expectedVersion) throw new StateConflict(name, commit.expectedVersion, version);
    const parts = dictionary(before);
    for (const [part, text] of Object.entries(commit.parts)) {
      delete parts[part];
      if (text !== null) parts[part] = text;
    }
    this.states.set(name, { version: version + 1, head: commit.head, parts: { ...parts } });
    const inbox = this.remembered.get(name) ?? new Set<string>();
    for (const id of commit.inbox) {
      // A repeated id counts as new.
      inbox.delete(id);
      inbox.add(id);
    }
    this.remembered.set(name, new Set([...inbox].slice(-REMEMBERED)));
    this.log.append(commit.records);
    this.commits.push(commit);
  }

  async runs(executable: string, after: string, limit: number): Promise<readonly StoredRun[]> {
    const { above, below } = namesOfRuns(executable);
    return [...this.states]
      .filter(([name]) => name > above + after && name < below)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, limit)
      .map(([name, { version, head }]) => ({ run: name.slice(above.length), version, head }));
  }

  async *executables(): AsyncIterable<string> {
    for (const name of this.states.keys()) if (!isNameOfRun(name)) yield name;
  }

  async inbox(key: StateKey): Promise<readonly string[]> {
    return [...(this.remembered.get(nameOf(key)) ?? [])];
  }

  async dropRun(key: Required<StateKey>): Promise<void> {
    this.forget(nameOf(key));
  }

  async drop(executable: string): Promise<void> {
    const { above, below } = namesOfRuns(executable);
    for (const name of this.states.keys()) if (name === executable || (name > above && name < below)) this.forget(name);
  }

  private forget(name: string): void {
    this.states.delete(name);
    this.remembered.delete(name);
  }
}
