import { type CommandContext } from '#libs/kernel/handle-command.js';
import { by } from './set-up-user/set-up-user.js';

/** Actor of what an operator does with the command line on the server, without an API key. */
export const OPERATOR = 'operator';

export const byOperator = (workspaceId: string): CommandContext => by(OPERATOR, workspaceId);
