import { type Execution } from '#libs/workflow-runs/next-execution.js';
import { type RunState, originOf } from '#libs/workflow-runs/run-state.js';

/** Fields of `$.context` that belong to the run, and not to one execution (docs/reference/workflows.md#context). */
export type RunContext = Readonly<Record<string, unknown>>;

/** Version of the platform that components see. */
const PLATFORM_VERSION = '3';

/** `steps.trigger.context`, and `original_context` of the errors of a run. */
export const runContext = (state: RunState, workflowName: string): RunContext => {
  const origin = originOf(state);
  const { resumed, version } = state.head;
  return {
    id: origin.id,
    ts: new Date(origin.arrivedAt).toISOString(),
    trace_id: origin.traceId,
    workflow_id: origin.workflowId,
    workflow_name: workflowName,
    deployment_id: version?.deploymentId ?? null,
    emitter_id: origin.trigger.id,
    owner_id: origin.ownerId,
    platform_version: PLATFORM_VERSION,
    replay: origin.replayOf !== null,
    test: origin.test,
    verified: origin.verified,
    hops: origin.hops,
    source_type: origin.sourceType,
    resume: resumed && { namespace: resumed.namespace, kind: resumed.kind },
    project_id: null,
    pipeline_id: null,
    external_user_id: null,
    external_user_environment: null,
  };
};

/** `$.context` of one execution. */
export const stepContext = (
  context: RunContext,
  { deadline, idempotencyKey, run }: Execution,
  test: boolean,
): RunContext => ({
  ...context,
  deadline,
  JIT: test,
  idempotency_key: idempotencyKey,
  run: {
    runs: run.runs,
    attempt: run.attempt,
    context: parsed(run.context),
    callback_request: parsed(run.callbackRequest),
  },
});

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text));
