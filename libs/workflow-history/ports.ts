import { type Actor } from '#libs/kernel/events.js';
import { type RunReplay } from '#libs/workflow-runs/replay-start.js';
import { type SteeringAnswer } from '#libs/workflow-runs/run-steering.js';
import { type RunState } from '#libs/workflow-runs/run-state.js';

/** Ports of this context. The composition root provides them under these tokens. */

export const RUN_HISTORY = Symbol('RunHistory');

/** What records of runs show of their workflows. */
export interface RunnableWorkflows {
  /** Undefined when the workflow is unknown or deleted. */
  find(workflowId: string): ShownWorkflow | undefined;
  idOfExternal(externalId: string, workspaceId: string): string | undefined;
  version(workflowId: string, deploymentId: string): Promise<ShownVersion | undefined>;
}
export const RUNNABLE_WORKFLOWS = Symbol('RunnableWorkflows');

/** Asks the process that runs a workflow to cancel or resume one of its runs. */
export interface RunSteering {
  /** Resolves once what the request did is durable. Throws platform.unavailable when there is no answer in time. */
  steer(request: SteeringRequest): Promise<SteeringAnswer>;
}
export const RUN_STEERING = Symbol('RunSteering');

/** Has many runs of a workflow cancelled. */
export interface RunCancels {
  /**
   * Resolves once the request is durable. Those of the runs that have not ended by then are cancelled soon after. `cause`:
   * the same on a repeat.
   */
  cancelRuns(request: {
    readonly workflowId: string;
    readonly workspaceId: string;
    readonly runs: readonly string[];
    readonly by: Actor;
    readonly cause: string;
    /** Epoch milliseconds. */
    readonly now: number;
  }): Promise<void>;
}
export const RUN_CANCELS = Symbol('RunCancels');

/** The view of bulk replays. */
export const BULK_REPLAYS = Symbol('BulkReplays');

export interface SteeringRequest {
  readonly workflowId: string;
  readonly workspaceId: string;
  readonly runId: string;
  readonly by: Actor;
  readonly change: { readonly kind: 'cancel' } | { readonly kind: 'resume'; readonly data: unknown };
}

export interface ShownWorkflow {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly active: boolean;
  readonly settings: { readonly timeoutSeconds: number | null };
  /** Null before the first deployment. */
  readonly deploymentId: string | null;
  readonly draft: { readonly id: string; readonly settings: { readonly timeoutSeconds: number | null } } | null;
}

export interface ShownVersion {
  readonly steps: readonly ShownStep[];
}

export interface ShownStep {
  readonly namespace: string;
  readonly id: string;
}

/** Starts runs of workflows. */
export interface WorkflowInvokes {
  /**
   * Resolves once the event is durable. Throws workflow.not_found, request.too_large, and what the server refuses events
   * of the workflow with.
   */
  invoke(call: {
    readonly workflowId: string;
    readonly workspaceId: string;
    readonly event: unknown;
    readonly test: boolean;
    /** Id of the draft that a test runs. Null: it runs the version in force. */
    readonly draftId: string | null;
    /** Name of the `tool` trigger that is called. Absent: a user invokes the workflow. */
    readonly tool?: string;
    /** How long the caller waits for what `$.respond` gives. Undefined: it does not. */
    readonly waitMs: number | undefined;
    /** The same for every repeat of the request, which starts one run. Undefined for a request that is not repeated. */
    readonly repeatId: string | undefined;
  }): Promise<{
    /** The run as it arrived. */
    readonly run: RunState;
    /** Resolves once the caller has its answer, or has waited for its time. Never rejects. */
    readonly answered: Promise<unknown>;
  }>;
  /** Resolves with the run as it arrived. Throws as `invoke`, and run.not_found when the workflow was deleted. */
  replay(replay: RunReplay, repeatId: string | undefined): Promise<RunState>;
}
export const WORKFLOW_INVOKES = Symbol('WorkflowInvokes');
