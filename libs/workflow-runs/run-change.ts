import { type RunOrigin } from './run-facts.js';
import { type RunHead, type RunState, exists, originOf } from './run-state.js';
import { changedParts } from './run-parts.js';

/**
 * What one commit changed in a run, as the log carries it to the history of runs. Applied in the order of their versions,
 * the changes of a run make its state again, also after the journal has dropped the run.
 */
export interface RunChange {
  readonly runId: string;
  readonly workflowId: string;
  readonly workspaceId: string;
  /** Version of the run's state after the commit, from 1. A repeat has the same, and no version is missing. */
  readonly version: number;
  readonly head: RunHead;
  /** The run is removed once it has ended, by `data_retention: none` or `x-pd-nostore`. */
  readonly nostore?: true;
  /** Present when the status changed, so that the change can be shown without what came before. */
  readonly origin?: RunOrigin;
  /** Changed texts by name; null for one that is gone. */
  readonly parts: Readonly<Record<string, string | null>>;
}

export const runChangeOf = (
  run: Pick<RunChange, 'runId' | 'workflowId' | 'workspaceId' | 'version' | 'nostore'>,
  before: RunState,
  after: RunState,
): RunChange => {
  const isShown = !exists(before) || before.head.status !== after.head.status;
  return {
    ...run,
    head: after.head,
    ...(isShown ? { origin: originOf(after) } : {}),
    parts: changedParts(before, after),
  };
};
