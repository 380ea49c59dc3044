import { type Actor } from '#libs/kernel/events.js';
import { type SteeringAnswer } from '#libs/workflow-runs/run-steering.js';

/** Ports of this context. The composition root provides them under these tokens. */

export const RUN_HISTORY = Symbol('RunHistory');

/** What records of runs show of their workflows. */
export interface RunnableWorkflows {
  /** Undefined when the workflow is unknown or deleted. */
  find(workflowId: string): ShownWorkflow | undefined;
  version(workflowId: string, deploymentId: string): Promise<ShownVersion | undefined>;
}
export const RUNNABLE_WORKFLOWS = Symbol('RunnableWorkflows');

/** Asks the process that runs a workflow to cancel or resume one of its runs. */
export interface RunSteering {
  /** Resolves once what the request did is durable. Throws platform.unavailable when there is no answer in time. */
  steer(request: SteeringRequest): Promise<SteeringAnswer>;
}
export const RUN_STEERING = Symbol('RunSteering');

export interface SteeringRequest {
  readonly workflowId: string;
  readonly workspaceId: string;
  readonly runId: string;
  readonly by: Actor;
  readonly change: { readonly kind: 'cancel' } | { readonly kind: 'resume'; readonly data: unknown };
}

export interface ShownWorkflow {
  readonly workspaceId: string;
  readonly name: string;
  readonly deploymentId: string;
}

export interface ShownVersion {
  readonly steps: readonly ShownStep[];
}

export interface ShownStep {
  readonly namespace: string;
  readonly id: string;
}
