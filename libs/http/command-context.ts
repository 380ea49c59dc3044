import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { type Request } from 'express';
import { type CommandContext, type Precondition } from '#libs/kernel/handle-command.js';
import { newCommandId } from '#libs/kernel/ids.js';
import { acceptedRevisions } from './preconditions.js';
import { callerOf, requestIdOf } from './request-state.js';

/** W3C Trace Context, version 00. */
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Categories of the resources that have an ETag (docs/reference/rest-api.md#etag). */
const WITH_ETAG = ['source', 'webhook', 'account', 'datastore', 'subscription', 'workflow'];

/** Requests by `POST` that change one of them. */
const CHANGES_BY_POST = /^\/v1\/workflows\/[^/]+\/(?:deploy|rollback)$/;

/** Only a change of what exists can have one. One object for all steps of a request. */
const preconditionOf = (request: Request): Precondition | undefined => {
  const { method, path } = request;
  if (method !== 'PUT' && method !== 'DELETE' && !CHANGES_BY_POST.test(path)) return undefined;
  const revisions = acceptedRevisions(request);
  return revisions && { categories: WITH_ETAG, revisions, held: false };
};

/** Makes the context of a command in this workspace, with a new command id at each call. */
export type ContextIn = (workspaceId: string) => CommandContext;

/** Injects a `ContextIn` for the caller and the ids of the request. The route decides the workspace. */
export const Context = createParamDecorator((_: unknown, context: ExecutionContext): ContextIn => {
  const request = context.switchToHttp().getRequest<Request>();
  const { userId, apiKeyId } = callerOf(request);
  const traceparent = request.headers['traceparent'];
  const precondition = preconditionOf(request);
  return (workspaceId) => {
    const commandId = newCommandId();
    return {
      commandId,
      correlationId: requestIdOf(request) || commandId,
      causationId: commandId,
      actor: { userId, apiKeyId },
      workspaceId,
      ...(precondition === undefined ? {} : { precondition }),
      ...(typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? { traceparent } : {}),
    };
  };
});
