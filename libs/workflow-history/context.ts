import { type Context } from '#libs/kernel/context.js';
import { WorkflowHistoryModule, type WorkflowHistoryPorts } from './workflow-history.module.js';

export const workflowHistoryContext = {
  ids: ['run'],
  module: (ports: WorkflowHistoryPorts) => WorkflowHistoryModule.forRoot(ports),
} as const satisfies Context;
