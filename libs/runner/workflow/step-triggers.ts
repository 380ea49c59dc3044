import { type AskTrigger } from '#libs/component-model/step-run.js';
import { MAX_HOPS } from '#libs/stream-log/envelopes.js';
import { runStartedBy } from '#libs/stream-log/invocations.js';
import { type RunOrigin } from '#libs/workflow-runs/run-facts.js';
import { type RunnableWorkflows } from './workflow-ports.js';

const EXTERNAL = 'ext:';

/** Answers `$.flow.trigger` of one execution (docs/reference/workflows.md#flow-trigger). */
export const askTrigger =
  (
    workflows: Pick<RunnableWorkflows, 'find' | 'idOfExternal'>,
    { id: run, ownerId, hops }: Pick<RunOrigin, 'id' | 'ownerId' | 'hops'>,
    execution: number,
  ): AskTrigger =>
  (name, index) => {
    const id = name.startsWith(EXTERNAL) ? workflows.idOfExternal(name.slice(EXTERNAL.length), ownerId) : name;
    const workflow = id === undefined ? undefined : workflows.find(id);
    if (workflow?.workspaceId !== ownerId)
      return { error: { code: 'WorkflowNotFound', message: `the workspace has no workflow ${name}` } };
    if (!workflow.active) return { error: { code: 'WorkflowInactive', message: `workflow ${name} is not active` } };
    if (hops >= MAX_HOPS) {
      const message = `the event has passed ${MAX_HOPS} listeners, so it starts no further workflow`;
      return { error: { code: 'HopLimitExceeded', message } };
    }
    return { workflowId: workflow.id, runId: runStartedBy({ run, execution, index }) };
  };
