import { type ActionFacts } from '#libs/component-model/action-run.js';

/**
 * `$.context` of a single run. Fields that only a workflow has are null
 * (docs/reference/component-model.md#action-context).
 */
export interface ActionContext {
  readonly id: string;
  readonly ts: string;
  readonly trace_id: string;
  readonly owner_id: string;
  readonly deadline: number;
  readonly [field: string]: unknown;
}

const OF_WORKFLOWS = [
  ...['workflow_id', 'workflow_name', 'deployment_id', 'emitter_id', 'project_id', 'pipeline_id'],
  ...['platform_version', 'source_type', 'hops', 'verified', 'resume'],
];

/** @param startedAt epoch milliseconds at which the run got control, from which its time counts. */
export const contextOf = ({ runId, workspaceId, ts, timeoutMs }: ActionFacts, startedAt: number): ActionContext => ({
  ...Object.fromEntries(OF_WORKFLOWS.map((field) => [field, null])),
  id: runId,
  ts,
  trace_id: runId,
  owner_id: workspaceId,
  replay: false,
  test: false,
  JIT: false,
  run: { runs: 1 },
  deadline: startedAt + timeoutMs,
});
