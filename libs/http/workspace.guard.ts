import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { type Request } from 'express';
import { callerIfAny, identify } from './request-state.js';
import { callerWithin, namedWorkspace } from './workspace.js';

/**
 * `workspace_id` and `org_id` of every route. From here on the caller is a member of the named workspace alone, so that
 * no route can forget them: what belongs to another workspace is not found.
 */
@Injectable()
export class WorkspaceGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const caller = callerIfAny(request);
    if (!caller) return true;
    const named = namedWorkspace(request.query, request.body);
    if (named !== undefined) identify(request, callerWithin(caller, named));
    return true;
  }
}
