export const WORKFLOW_LIMITS = {
  workflowsPerWorkspace: 1_000,
};

export type WorkflowLimits = Readonly<typeof WORKFLOW_LIMITS>;
