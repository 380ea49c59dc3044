import { type CommandContext } from '#libs/kernel/handle-command.js';
import { newCommandId } from '#libs/kernel/ids.js';

/**
 * Makes the context for one step of an operation with several writes: a separate command, caused by the request. A
 * second command with the same id on one stream would count as a repeat of the first.
 */
export const stepOf = (context: CommandContext): CommandContext => ({
  ...context,
  commandId: newCommandId(),
  causationId: context.commandId,
});
