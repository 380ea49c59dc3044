import { type Context } from '#libs/kernel/context.js';
import { ActionsModule, type ActionsPorts } from './actions.module.js';

export const actionsContext = {
  module: (ports: ActionsPorts) => ActionsModule.forRoot(ports),
} as const satisfies Context;
