import { type Request } from 'express';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { newCommandId } from '#libs/kernel/ids.js';
import { type Caller } from '#libs/http/callers.js';
import { requestIdOf } from './request-state.js';

/** W3C Trace Context, version 00. */
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Builds the context of a command from its caller, workspace and request, with a new command id. */
export const contextOf = (request: Request, caller: Caller, workspaceId: string): CommandContext => {
  const commandId = newCommandId();
  const traceparent = request.headers['traceparent'];
  return {
    commandId,
    correlationId: requestIdOf(request) || commandId,
    causationId: commandId,
    actor: { userId: caller.userId, apiKeyId: caller.apiKeyId },
    workspaceId,
    ...(typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? { traceparent } : {}),
  };
};
