export const WORKFLOW_LIMITS = {
  workflowsPerWorkspace: 1_000,
  /** Largest `memory_mb`. */
  workflowMemoryMb: 1_024,
};

export type WorkflowLimits = Readonly<typeof WORKFLOW_LIMITS>;
