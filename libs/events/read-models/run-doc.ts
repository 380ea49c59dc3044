import { type Doc } from '#libs/kernel/read-model-store.js';
import { type RunsHeaders } from '#libs/stream-log/envelopes.js';
import { type SourceRun } from '#libs/stream-log/source-runs.js';

/** Approximate bytes that a run occupies in the read model. */
const RUN_DOC_BYTES = 700;

/**
 * A run of a source, among the events in their read model. No key of it is a key of an event: ids of emitters begin with
 * their prefix, and a workspace has its events under its own id.
 */
export interface RunDoc extends Doc, Omit<SourceRun, 'id'> {
  readonly list: string;
  readonly family: string;
  readonly workspaceId: string;
  readonly sort: string;
  readonly bytes: number;
  readonly runId: string;
}

export const runListOf = (sourceId: string): string => `runs/${sourceId}`;
export const runDocId = (sourceId: string, runId: string): string => `${runListOf(sourceId)}/${runId}`;

/** Place of a run among others, by a time in epoch milliseconds: in the read model its end, in a list its arrival. */
export const runSort = (at: number, runId: string): string => `${String(Math.floor(at)).padStart(15, '0')}-${runId}`;

export const runEndOf = ({ startedAt, ms }: Pick<SourceRun, 'startedAt' | 'ms'>): number => Math.floor(startedAt + ms);

/** Key of the runs of all sources of a workspace. */
export const runsOfWorkspace = (workspaceId: string): string => `runs/${workspaceId}`;

export const runDoc = (
  { emitter, workspace }: Pick<RunsHeaders, 'emitter' | 'workspace'>,
  { id, ...run }: SourceRun,
): RunDoc => ({
  id: runDocId(emitter, id),
  list: runListOf(emitter),
  family: runListOf(emitter),
  workspaceId: runsOfWorkspace(workspace),
  sort: runSort(runEndOf(run), id),
  bytes: RUN_DOC_BYTES,
  runId: id,
  ...run,
});
