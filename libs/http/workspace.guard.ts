import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { type Request } from 'express';
import { callerIfAny, identify } from './request-state.js';
import { callerWithin, namedWorkspace } from './workspace.js';

/**
 * Applies `workspace_id` and `org_id` of every route. Narrows the caller to the named workspace, so no route can forget
 * the parameter. Resources of other workspaces are then not found.
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
