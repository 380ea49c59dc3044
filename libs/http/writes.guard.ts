import { Injectable, type CanActivate, type CustomDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type Request } from 'express';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Caller } from './callers.js';
import { callerIfAny, identify } from './request-state.js';
import { mayOnlyRead } from './workspace.js';

const WRITES_OWN = 'sluice:writes-own';

/** Marks a route that changes data of the user and not of a workspace, to which roles do not apply. */
export const WritesOwn = (): CustomDecorator => SetMetadata(WRITES_OWN, true);

const READS_BY_POST = 'sluice:reads-by-post';

/** Marks a `POST` that changes nothing, because what it asks about does not fit into an address. */
export const ReadsByPost = (): CustomDecorator => SetMetadata(READS_BY_POST, true);

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses changes by callers who may only read (docs/reference/rest-api.md#roles). Every method but GET, HEAD and
 * OPTIONS counts as a change unless its route is marked, so no route can forget it. Workspaces in which the user may only read are removed from
 * the caller, so a change does not find their resources. Throws auth.read_only_key or auth.read_only_member.
 */
@Injectable()
export class WritesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const caller = callerIfAny(request);
    const target = [context.getHandler(), context.getClass()];
    const isMarked = (mark: string): boolean =>
      this.reflector.getAllAndOverride<boolean | undefined>(mark, target) === true;
    if (!caller || READS.has(request.method) || isMarked(READS_BY_POST)) return true;
    if (caller.isReadOnly === true) throw readOnlyKey(caller);
    if (!isMarked(WRITES_OWN)) identify(request, writer(caller));
    return true;
  }
}

const writer = (caller: Caller): Caller => {
  const { workspaceIds, roleIn } = caller;
  if (!roleIn) return caller;
  const writable = workspaceIds.filter((id) => roleIn(id) !== 'read_only');
  if (writable.length === workspaceIds.length) return caller;
  if (writable.length > 0)
    return { ...caller, workspaceIds: writable, memberships: caller.memberships ?? workspaceIds };
  throw mayOnlyRead(workspaceIds);
};

const readOnlyKey = ({ apiKeyId }: Caller): DomainError =>
  new DomainError(
    'auth.read_only_key',
    'this API key may only read: send a key without read_only to change something',
    { api_key_id: apiKeyId },
  );

/** For a read of what only those see who may change it. Throws auth.read_only_key or auth.read_only_member. */
export const mustBeWriter = (caller: Caller, workspaceId: string): void => {
  if (caller.isReadOnly === true) throw readOnlyKey(caller);
  if (caller.roleIn?.(workspaceId) === 'read_only') throw mayOnlyRead([workspaceId]);
};

/** Throws auth.not_an_owner unless the caller is an owner of the workspace, of which the caller is a member. */
export const mustBeOwner = ({ roleIn }: Caller, workspaceId: string): void => {
  if (!roleIn || roleIn(workspaceId) === 'owner') return;
  throw new DomainError('auth.not_an_owner', `only an owner of workspace ${workspaceId} may do this`, {
    id: workspaceId,
    role: roleIn(workspaceId),
  });
};
