import { type LaneOrigin } from '#libs/stream-log/lane-origin.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';

/** Done invocations of a source: all up to `through`, and those in `above`, which lie beyond a gap. */
export interface LaneProgress {
  readonly through: number;
  readonly above: readonly number[];
  /** Origin of the newest done invocation. Undefined where the log never gives out an offset twice. */
  readonly origin?: LaneOrigin;
}

/** Emits of one emitter that one subscription brought and that are done: all up to `through`, and those in `above`. */
export interface EmitProgress {
  /** Sortable event id; `''` for none. */
  readonly through: string;
  readonly above: readonly string[];
}

/** Dedupe cache of one channel (docs/reference/component-model.md#dedupe-scope). */
export type DedupeCache =
  | { readonly strategy: 'unique'; readonly ids: readonly string[] }
  | { readonly strategy: 'greatest'; readonly max: number }
  | { readonly strategy: 'last'; readonly id: string };

/** State that a source carries from run to run. */
export interface SourceState {
  /** Number of commits, 0 for none. Guards against two owners. */
  readonly version: number;
  readonly progress: LaneProgress;
  readonly dedupe: Readonly<Record<string, DedupeCache>>;
  /** Content of `$.service.db`, JSON text by key. */
  readonly db: Readonly<Record<string, string>>;
  /** By emitter and subscription. */
  readonly heard: Readonly<Record<string, EmitProgress>>;
  /** Last event id given out, `''` for none. Ids increase even when the clock goes back. */
  readonly lastEventId: string;
}

export interface RunCommit {
  readonly sourceId: string;
  readonly expectedVersion: number;
  readonly progress: LaneProgress;
  /** Changed caches by channel; null for a forgotten one. */
  readonly dedupe: Readonly<Record<string, DedupeCache | null>>;
  readonly dbChanges: Readonly<Record<string, string | null>>;
  readonly lastEventId: string;
  /** What changed, by emitter and subscription; null for what is forgotten. Absent: nothing. */
  readonly heard?: Readonly<Record<string, EmitProgress | null>>;
  /** Repeatable invocations in this commit, remembered so that a repeat does not run again. */
  readonly inbox: readonly string[];
  /** Emits, errors and log lines for the emitter's topic. */
  readonly records: readonly LogRecord[];
}

/** Thrown when another owner committed first. This owner must drop its sandbox and load the state again. */
export class StateConflict extends Error {
  constructor(
    readonly sourceId: string,
    readonly expected: number,
    readonly actual: number,
  ) {
    super(`state of ${sourceId} is at version ${actual}, expected ${expected}`);
    this.name = 'StateConflict';
  }
}

/** Thrown for a commit that the store will never take, because of its size. Nothing of it is written. */
export class CommitTooLarge extends Error {
  constructor(
    readonly sourceId: string,
    readonly reason: string,
  ) {
    super(`a commit of ${sourceId} is too large to be stored: ${reason}`);
    this.name = 'CommitTooLarge';
  }
}

/** Most bytes that one commit may change in the state of its source. Limits of runs keep commits well below it. */
export const STATE_CHANGE_BYTES = 8 * 1024 * 1024;

/** UTF-8 bytes of the changes of a commit to the state of its source, without records. */
export const stateChangeBytes = ({ dedupe, dbChanges, inbox, progress }: RunCommit): number => {
  let bytes = 16 * progress.above.length;
  for (const id of inbox) bytes += id.length;
  for (const [channel, cache] of Object.entries(dedupe)) {
    bytes += Buffer.byteLength(channel) + (cache === null ? 0 : Buffer.byteLength(JSON.stringify(cache)));
  }
  for (const [key, text] of Object.entries(dbChanges)) bytes += Buffer.byteLength(key) + Buffer.byteLength(text ?? '');
  return bytes;
};

/** Rejects what no engine has to take, before anything is written. */
export const failIfTooLarge = (commit: RunCommit): void => {
  const bytes = stateChangeBytes(commit);
  if (bytes > STATE_CHANGE_BYTES)
    throw new CommitTooLarge(
      commit.sourceId,
      `it changes ${bytes} bytes of what the source keeps, the limit is ${STATE_CHANGE_BYTES}`,
    );
};

/** Commits the end of a run atomically: caches, db keys, emits, and the invocation's completion (docs/adr/0002). */
export interface RunJournal {
  /** Returns the state as of the last commit, by any owner. The records of all commits so far are in their topics. */
  load(sourceId: string): Promise<SourceState>;
  /** Returns those of the invocation ids that were committed before. At least a source's last 1,000 are remembered. */
  seen(sourceId: string, invocationIds: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Resolves when all of it is durable, or rejects having written nothing. Rejects with StateConflict when the stored
   * version is not `expectedVersion`, and with CommitTooLarge when a repeat can never succeed. The new version is `expectedVersion + 1`. A caller may send commits of one source
   * without waiting for the previous one. They are applied in call order. Records reach their topics with the commit or
   * soon after it, in commit order, even when the process ends in between. Then some may be there twice, under the same
   * ids.
   */
  commit(commit: RunCommit): Promise<void>;
  /** Lists the ids of all sources that have state, for moving an installation. */
  sources(): AsyncIterable<string>;
  /** Lists the remembered invocation ids, oldest first. */
  inbox(sourceId: string): Promise<readonly string[]>;
  /** Deletes a source's state. Idempotent. */
  drop(sourceId: string): Promise<void>;
}
