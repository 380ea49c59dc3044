import { DomainError } from '#libs/kernel/domain-error.js';
import { type Caller } from './callers.js';
import { describe } from './parameters.js';

const FIELDS = ['workspace_id', 'org_id'] as const;

/**
 * Returns the workspace that a request names by either parameter, in query or body; undefined when it names none.
 * An empty text and null name none. Throws request.invalid_parameter for anything but one text, and when two differ.
 */
export const namedWorkspace = (query: unknown, body: unknown): string | undefined => {
  let named: string | undefined;
  for (const place of [query, body]) {
    for (const field of FIELDS) {
      const given = fieldOf(place, field);
      if (given === undefined || given === null || given === '') continue;
      if (typeof given !== 'string') {
        const actual = describe(given);
        const message = `parameter ${field} must be one workspace id; got ${String(actual)}`;
        throw new DomainError('request.invalid_parameter', message, { field, actual });
      }
      if (named !== undefined && named !== given) {
        const [first, second] = [String(describe(named)), String(describe(given))];
        throw new DomainError(
          'request.invalid_parameter',
          `parameter ${field} names another workspace than the request does elsewhere: ${first} and ${second}; give one`,
          { field, actual: second, other: first },
        );
      }
      named = given;
    }
  }
  return named;
};

/**
 * Narrows the caller to one workspace, so nothing outside of it is found, listed or changed.
 * Throws workspace.not_found, auth.not_a_member.
 */
export const callerWithin = (caller: Caller, workspaceId: string): Caller => ({
  ...caller,
  workspaceIds: [memberOf(caller, workspaceId)],
  named: workspaceId,
  memberships: caller.workspaceIds,
});

/**
 * Workspace in which a request without an id acts (docs/reference/rest-api.md#acting-workspace). It owns created
 * resources, and names, keys and slugs are looked up in it alone. A membership that another user grants never changes
 * it, except for a user who has left the workspace of the account. Throws workspace.required and, for a change where
 * the user may only read, auth.read_only_member.
 */
export const workspaceOf = (caller: Caller): string => {
  const { named, home, workspaceIds, memberships = workspaceIds } = caller;
  const [only, ...others] = memberships;
  const acting = named ?? home ?? (others.length === 0 ? only : undefined);
  if (acting === undefined) {
    throw new DomainError('workspace.required', 'please specify a valid workspace', {
      field: 'org_id',
      actual: 'none',
      allowed: memberships,
    });
  }
  if (!workspaceIds.includes(acting)) throw mayOnlyRead([acting]);
  return acting;
};

/** The refusal of a change by a user who may only read in these workspaces. */
export const mayOnlyRead = (workspaceIds: readonly string[]): DomainError =>
  new DomainError(
    'auth.read_only_member',
    `you may only read in workspace ${workspaceIds.join(', ')}: ask one of its owners for the role member`,
    { workspace_ids: workspaceIds },
  );

/**
 * Workspace whose history records changes of a user's own account. The empty text stands for none, so that a workspace
 * of other users never shows the keys of its members.
 */
export const workspaceOfAccount = ({ named, home }: Caller): string => named ?? home ?? '';

/**
 * Returns the id when the caller is a member of that workspace.
 * Throws workspace.not_found, also when the request names another workspace of the caller, and auth.not_a_member.
 */
export const memberOf = (caller: Caller, workspaceId: string): string => {
  if (caller.workspaceIds.includes(workspaceId)) return workspaceId;
  const shown = String(describe(workspaceId));
  if (caller.isWorkspace?.(workspaceId) === false) {
    throw new DomainError(
      'workspace.not_found',
      `there is no workspace ${shown} among yours: GET /v1/users/me/workspaces lists them`,
      { id: shown },
    );
  }
  if (caller.memberships?.includes(workspaceId) === true) {
    const message = `workspace ${shown} is not the one that the request names, ${String(caller.named)}`;
    throw new DomainError('workspace.not_found', message, { id: shown });
  }
  throw new DomainError('auth.not_a_member', `you are not a member of workspace ${shown}`, { id: shown });
};

/** Resources that a user made, in workspaces that the request may read. */
export type OwnResources = Readonly<{
  userId: string;
  /** A list means any of them. */
  workspaceId: string | readonly string[];
}>;

/**
 * Filter for resources that the caller created in the named workspace, or else in all workspaces of the caller.
 * Resources stay in a workspace that the caller leaves.
 */
export const ownedBy = ({ userId, workspaceIds }: Caller): OwnResources => {
  const [only, ...others] = workspaceIds;
  return { userId, workspaceId: only !== undefined && others.length === 0 ? only : workspaceIds };
};

const fieldOf = (place: unknown, field: string): unknown =>
  typeof place === 'object' && place !== null && Object.hasOwn(place, field)
    ? (place as Readonly<Record<string, unknown>>)[field]
    : undefined;
