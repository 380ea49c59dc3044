import { type LogRecord } from '#libs/stream-log/stream-log.js';

/** Names the state of an executable, or of one of its runs. Ids contain no `/`. */
export interface StateKey {
  /** Id of a source, for example. */
  readonly executable: string;
  /** Absent: the executable's own state. */
  readonly run?: string | undefined;
}

/** Returns one text for a key. The names of an executable's runs follow its own name, in the order of their ids. */
export const nameOf = ({ executable, run }: StateKey): string =>
  run === undefined ? executable : `${executable}/${run}`;

/** Returns the bounds of the names of all runs of an executable. `0` is the character after `/`. */
export const namesOfRuns = (executable: string): { readonly above: string; readonly below: string } => ({
  above: `${executable}/`,
  below: `${executable}0`,
});

export const isNameOfRun = (name: string): boolean => name.includes('/');

/** State of an executable, or of one run, from commit to commit. Only its owner reads the texts. */
export interface StoredState {
  /** Number of commits, 0 for none. It detects a second owner. */
  readonly version: number;
  /** Text that every commit replaces; `''` before the first. */
  readonly head: string;
  /** Texts by name, which a commit changes one by one. */
  readonly parts: Readonly<Record<string, string>>;
}

export interface RunCommit extends StateKey {
  readonly expectedVersion: number;
  readonly head: string;
  /** Changed texts by name; null for a removed one. */
  readonly parts: Readonly<Record<string, string | null>>;
  /** Repeatable invocations in this commit, remembered so that a repeat does not run again. */
  readonly inbox: readonly string[];
  /** Records for the log: emits, errors and log lines. */
  readonly records: readonly LogRecord[];
}

/** A run in the list of its executable. */
export interface StoredRun {
  readonly run: string;
  readonly version: number;
  readonly head: string;
}

/** Thrown when another owner committed first. This owner must drop its sandbox and load the state again. */
export class StateConflict extends Error {
  constructor(
    readonly state: string,
    readonly expected: number,
    readonly actual: number,
  ) {
    super(`state of ${state} is at version ${actual}, expected ${expected}`);
    this.name = 'StateConflict';
  }
}

/** Thrown for a commit that the store will never accept, because of its size. Nothing of it is written. */
export class CommitTooLarge extends Error {
  constructor(
    readonly state: string,
    readonly reason: string,
  ) {
    super(`a commit of ${state} is too large to be stored: ${reason}`);
    this.name = 'CommitTooLarge';
  }
}

/** Most bytes that one commit may change in a state. Limits of runs keep commits well below it. */
export const STATE_CHANGE_BYTES = 8 * 1024 * 1024;

/** Returns the UTF-8 bytes of the changes of a commit to its state, without records. */
export const stateChangeBytes = ({ head, parts, inbox }: RunCommit): number => {
  let bytes = Buffer.byteLength(head);
  for (const id of inbox) bytes += id.length;
  for (const [name, text] of Object.entries(parts)) bytes += Buffer.byteLength(name) + Buffer.byteLength(text ?? '');
  return bytes;
};

/** Rejects a commit that no engine has to accept, before anything is written. */
export const failIfTooLarge = (commit: RunCommit): void => {
  const bytes = stateChangeBytes(commit);
  if (bytes > STATE_CHANGE_BYTES)
    throw new CommitTooLarge(
      nameOf(commit),
      `it changes ${bytes} bytes of what is kept, the limit is ${STATE_CHANGE_BYTES}`,
    );
};

/**
 * Stores the state of each executable, and of each of its runs, apart from all others. A commit writes the changes of
 * one state together with the records that follow from it (docs/adr/0002), so its cost does not depend on the number of
 * runs.
 */
export interface RunJournal {
  /** Returns the state as of the last commit, by any owner. The topics then have the records of all commits so far. */
  load(key: StateKey): Promise<StoredState>;
  /**
   * Returns the parts of the state as of the last commit. Unlike `load` it publishes nothing, so any process may call it.
   */
  partsOf(key: StateKey): Promise<StoredState['parts']>;
  /** Returns the invocation ids that were committed before. At least the last 1,000 of a state are remembered. */
  seen(key: StateKey, invocationIds: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Resolves when the whole commit is durable, or rejects having written nothing. Rejects with StateConflict when the
   * stored version is not `expectedVersion`, and with CommitTooLarge when no repeat can succeed. The new version is
   * `expectedVersion + 1`. A caller may send commits of one state without waiting for the previous one. They are
   * applied in call order. Records reach their topics with the commit or soon after it, in commit order, even if the
   * process dies in between. Some may then be there twice, under the same ids. Records of different states have no
   * order.
   */
  commit(commit: RunCommit): Promise<void>;
  /**
   * Commits different states as `commit` does, all of them or none, with their records in this order. Absent where a store
   * writes states one by one.
   */
  commitAll?(commits: readonly RunCommit[]): Promise<void>;
  /** Lists the runs of an executable in the order of their ids, at most `limit` of those after `after`. */
  runs(executable: string, after: string, limit: number): Promise<readonly StoredRun[]>;
  /** Lists the ids of all executables that have a state of their own, for moving an installation. */
  executables(): AsyncIterable<string>;
  /** Lists the remembered invocation ids, oldest first. */
  inbox(key: StateKey): Promise<readonly string[]>;
  /** Deletes one run, once the records of all its commits are in the log. Idempotent. */
  dropRun(key: Required<StateKey>): Promise<void>;
  /** Deletes an executable's state and all of its runs. Idempotent. */
  drop(executable: string): Promise<void>;
}
