import { type Context } from '#libs/kernel/context.js';
import { DeletedWorkflowRunsReactor, type HistoryCleanUpPorts } from './clean-up/deleted-workflow-runs.reactor.js';
import { WorkflowHistoryModule, type WorkflowHistoryPorts } from './workflow-history.module.js';

export const workflowHistoryContext = {
  ids: ['run'],
  reactors: { 'workflow-history': (ports: HistoryCleanUpPorts) => new DeletedWorkflowRunsReactor(ports) },
  module: (ports: WorkflowHistoryPorts) => WorkflowHistoryModule.forRoot(ports),
} as const satisfies Context;
