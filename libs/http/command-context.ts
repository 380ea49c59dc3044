import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { type Request } from 'express';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { newCommandId } from '#libs/kernel/ids.js';
import { callerOf, requestIdOf } from './request-state.js';

/** W3C Trace Context, version 00. */
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Makes the context of a command in this workspace, with a new command id at each call. */
export type ContextIn = (workspaceId: string) => CommandContext;

/** Injects a `ContextIn` for the caller and the ids of the request. The route decides the workspace. */
export const Context = createParamDecorator((_: unknown, context: ExecutionContext): ContextIn => {
  const request = context.switchToHttp().getRequest<Request>();
  const { userId, apiKeyId } = callerOf(request);
  const traceparent = request.headers['traceparent'];
  return (workspaceId) => {
    const commandId = newCommandId();
    return {
      commandId,
      correlationId: requestIdOf(request) || commandId,
      causationId: commandId,
      actor: { userId, apiKeyId },
      workspaceId,
      ...(typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? { traceparent } : {}),
    };
  };
});
