import { type LogRecord } from '../stream-log/stream-log.js';

/** Which invocations of a source are done: all up to `through`, and those in `above` (a gap before each). */
export interface LaneProgress {
  readonly through: number;
  readonly above: readonly number[];
}

/** Dedupe cache of one channel (component-model.md, "Dedupe strategies"). */
export type DedupeCache =
  | { readonly strategy: 'unique'; readonly ids: readonly string[] }
  | { readonly strategy: 'greatest'; readonly max: number }
  | { readonly strategy: 'last'; readonly id: string };

/** What a source carries from run to run. */
export interface SourceState {
  /** 0 when nothing was ever committed. Guards against two owners. */
  readonly version: number;
  readonly progress: LaneProgress;
  readonly dedupe: Readonly<Record<string, DedupeCache>>;
  /** `$.service.db`: key to JSON text. */
  readonly db: Readonly<Record<string, string>>;
  /** Last event id given out, `''` for none: ids never go back, not even when the clock does. */
  readonly lastEventId: string;
}

export interface RunCommit {
  readonly sourceId: string;
  readonly expectedVersion: number;
  readonly progress: LaneProgress;
  /** Channels whose cache changed; null for one that is forgotten. */
  readonly dedupe: Readonly<Record<string, DedupeCache | null>>;
  readonly dbChanges: Readonly<Record<string, string | null>>;
  readonly lastEventId: string;
  /** Invocations from the router or a timer in this commit, remembered so that a repeat of them is not run again. */
  readonly inbox: readonly string[];
  /** Emits, errors and logs, for the emitter's topic. */
  readonly records: readonly LogRecord[];
}

/** Another owner committed first: this one must drop its sandbox and load again. */
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

/** The end of a run, as one unit: caches, db keys, emits, and that the invocation is done (docs/adr/0002). */
export interface RunJournal {
  /** The state as of the last commit, of whichever owner. The records of all commits up to it are in their topics. */
  load(sourceId: string): Promise<SourceState>;
  /** Which of these invocation ids were committed before (at least the last 1,000 of a source are remembered). */
  seen(sourceId: string, invocationIds: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Resolves when all of it is durable, or rejects having written none. Rejects with StateConflict when the stored
   * version is not `expectedVersion`; the new version is `expectedVersion + 1`. Commits of one source may be sent
   * without waiting for the one before: they are applied in call order. Records reach their topics with the commit or
   * soon after it, in the order of the commits of the source, also when the process ends in between; then some may be
   * there twice, under the same ids.
   */
  commit(commit: RunCommit): Promise<void>;
  /** Ids of all sources that have state, for moving an installation. */
  sources(): AsyncIterable<string>;
  /** The invocation ids that are remembered, oldest first. */
  inbox(sourceId: string): Promise<readonly string[]>;
  /** Forgets a source. Idempotent. */
  drop(sourceId: string): Promise<void>;
}
