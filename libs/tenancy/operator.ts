import { type CommandContext } from '#libs/kernel/handle-command.js';
import { by } from './set-up-user/set-up-user.js';

/** Actor of an operator's commands on the server's command line, which need no API key. */
export const OPERATOR = 'operator';

export const byOperator = (workspaceId: string): CommandContext => by(OPERATOR, workspaceId);
