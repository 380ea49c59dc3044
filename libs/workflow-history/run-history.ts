import { type SendOutcome } from '#libs/stream-log/message-records.js';
import { type RunChange } from '#libs/workflow-runs/run-change.js';
import { originOf, type RunState, type RunStatus } from '#libs/workflow-runs/run-state.js';

/** A run as lists need it: its head, and of its texts the origin and the end. */
export interface ListedRun {
  readonly id: string;
  readonly workflowId: string;
  readonly workspaceId: string;
  /** Version of the last change that the history has. */
  readonly version: number;
  readonly state: RunState;
  /** Its place in every list, as text. A page can begin at it, also once the run is removed. */
  readonly place: string;
}

/** A run that has just arrived, before the history has it. */
export const arrivedRun = (state: RunState): ListedRun => {
  const { id, workflowId, ownerId: workspaceId } = originOf(state);
  return { id, workflowId, workspaceId, state, version: 0, place: '' };
};

/** All filters must hold. */
export interface RunFilter {
  /** One workflow, or every workflow of these workspaces. */
  readonly of: { readonly workflowId: string } | { readonly workspaceIds: readonly string[] };
  /** Undefined: runs and tests. */
  readonly test?: boolean;
  /** Any of them. */
  readonly states?: readonly RunStatus[];
  /** Epoch milliseconds of the arrival, both included. */
  readonly since?: number;
  readonly until?: number;
  /** Type or name of the trigger. */
  readonly trigger?: string;
  readonly version?: number;
  readonly traceId?: string;
  readonly replayOf?: string;
  /** Each begins a word of the run (search-words.ts). */
  readonly words?: readonly string[];
}

export interface RunQuery extends RunFilter {
  readonly limit: number;
  /** Places. As in PageQuery: with only `before`, the `limit` runs right before it. */
  readonly after?: string;
  readonly before?: string;
}

export interface RunPage {
  /** Newest first by arrival. */
  readonly runs: readonly ListedRun[];
  /** Number of runs that match, up to MOST_COUNTED. */
  readonly total: number;
}

/** Runs of one call of `outlines`. */
export const OUTLINES = 100;

/** A total of this size stands for more. */
export const MOST_COUNTED = 10_000;

/** Of the newest MOST_COUNTED runs and tests of a workflow. Tests are not counted. */
export interface RunStats {
  /** Epoch milliseconds of the last arrival, at any time. Null for none. */
  readonly lastArrivedAt: number | null;
  /** Arrived since the time that was asked for. */
  readonly runs: number;
  readonly failed: number;
}

/** More than what is kept of the ended runs of a workflow, or of all runs of a workspace. */
export type RunSurplus =
  | {
      readonly workflowId: string;
      /** Number of ended runs that are kept, those that ended last. */
      readonly runs: number;
      /** Epoch milliseconds. A run that ended before is not kept. */
      readonly since: number;
    }
  | { readonly workspaceId: string; readonly bytes: number };

/**
 * The runs of all workflows as users read them, also those that their journal has dropped. It is no read model that can
 * be rebuilt: the log drops what happened to a run once the history holds it.
 */
export interface RunHistory {
  /**
   * Applies the changes of each run in order, and passes over those that it has. Durable once it resolves. A change of an
   * unknown run that is not its first is passed over too: the run was removed.
   */
  apply(changes: readonly RunChange[]): Promise<void>;
  /**
   * Applies what became of messages, in any order with `apply`. An outcome of an earlier execution or attempt than the
   * one that the run has is passed over, and so is one of an unknown run. Durable once it resolves.
   */
  applySends(outcomes: readonly SendOutcome[]): Promise<void>;
  /** Rejects with UnknownCursor for a text that is no place. */
  page(query: RunQuery): Promise<RunPage>;
  /** Of each workflow, in the given order. Reads no more of one than its newest MOST_COUNTED, in an index. */
  stats(workflowIds: readonly string[], since: number): Promise<readonly RunStats[]>;
  find(id: string): Promise<ListedRun | undefined>;
  /** The run with all its texts, up to 6 MB. */
  whole(id: string): Promise<ListedRun | undefined>;
  /**
   * Those of at most OUTLINES runs that there are, in any order, with the outcomes of their steps. A run that keeps its
   * event has an empty text in its place.
   */
  outlines(ids: readonly string[]): Promise<readonly ListedRun[]>;
  /** Lists the ids of all runs, for moving an installation. */
  ids(): AsyncIterable<string>;
  /**
   * Lists ids of ended runs whose removal leaves what is kept, at most `limit`, those of a workspace in the order of their
   * arrival. Unfinished runs count towards the bytes of a workspace, and are never listed.
   */
  surplus(of: RunSurplus, limit: number): Promise<readonly string[]>;
  /** Removes runs, whatever their state. Idempotent. */
  remove(ids: readonly string[]): Promise<void>;
}
