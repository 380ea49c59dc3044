import { type Context } from '#libs/kernel/context.js';
import { WorkflowsModule, type WorkflowsPorts } from './workflows.module.js';

export const workflowsContext = {
  module: (ports: WorkflowsPorts) => WorkflowsModule.forRoot(ports),
} as const satisfies Context;
