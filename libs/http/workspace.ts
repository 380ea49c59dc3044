import { DomainError } from '#libs/kernel/domain-error.js';
import { type Caller } from '#libs/tenancy/published.js';

/**
 * The workspace in which an operation takes effect (decisions.md 1.1): the one named by `org_id` or `workspace_id`,
 * else the only one of the caller. Throws workspace.required, workspace.not_found, auth.not_a_member.
 */
export const workspaceOf = (
  caller: Caller,
  params: { readonly org_id?: unknown; readonly workspace_id?: unknown },
): string => {
  const named = [params.org_id, params.workspace_id].find((id) => id !== undefined && id !== null && id !== '');
  if (named === undefined) {
    const [only, ...others] = caller.workspaceIds;
    if (only !== undefined && others.length === 0) return only;
    throw new DomainError('workspace.required', 'please specify a valid workspace', {
      field: 'org_id',
      actual: 'none',
      allowed: caller.workspaceIds,
    });
  }
  if (typeof named !== 'string') {
    throw new DomainError(
      'request.invalid_parameter',
      `org_id must be one workspace id, got ${JSON.stringify(named)}`,
      {
        field: 'org_id',
        actual: named,
      },
    );
  }
  return memberOf(caller, named);
};

/** Returns the id when the caller is a member of that workspace. Throws workspace.not_found, auth.not_a_member. */
export const memberOf = (caller: Caller, workspaceId: string): string => {
  if (caller.workspaceIds.includes(workspaceId)) return workspaceId;
  if (caller.isWorkspace?.(workspaceId) === false) {
    throw new DomainError('workspace.not_found', `there is no workspace ${workspaceId}`, { id: workspaceId });
  }
  throw new DomainError('auth.not_a_member', `you are not a member of workspace ${workspaceId}`, { id: workspaceId });
};
