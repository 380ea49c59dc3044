import { type CommandContext } from './handle-command.js';
import { newCommandId } from './ids.js';

/** Context of a command that the server itself gives. */
export const systemContext = (workspaceId: string): CommandContext => {
  const commandId = newCommandId();
  return {
    commandId,
    correlationId: commandId,
    causationId: commandId,
    actor: { userId: 'system', apiKeyId: null },
    workspaceId,
  };
};
