/** Ports of this context. The composition root provides them under these tokens. */

export const RUN_HISTORY = Symbol('RunHistory');

/** What records of runs show of their workflows. */
export interface RunnableWorkflows {
  /** Undefined when the workflow is unknown or deleted. */
  find(workflowId: string): ShownWorkflow | undefined;
  version(workflowId: string, deploymentId: string): Promise<ShownVersion | undefined>;
}
export const RUNNABLE_WORKFLOWS = Symbol('RunnableWorkflows');

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
