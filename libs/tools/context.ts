import { type Context } from '#libs/kernel/context.js';
import { ActionToolsView } from './action-tools-view.js';
import { ToolsModule, type ToolsPorts } from './tools.module.js';

export const toolsContext = {
  views: () => ({ actionTools: new ActionToolsView() }),
  module: (ports: ToolsPorts) => ToolsModule.forRoot(ports),
} as const satisfies Context;
