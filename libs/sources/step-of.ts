import { type CommandContext } from '#libs/kernel/handle-command.js';
import { newCommandId } from '#libs/kernel/ids.js';

/**
 * One step of an operation that writes more than once: a command of its own, caused by the request. (A second command
 * under one id on one stream would be taken for a repeat of the first.)
 */
export const stepOf = (context: CommandContext): CommandContext => ({
  ...context,
  commandId: newCommandId(),
  causationId: context.commandId,
});
