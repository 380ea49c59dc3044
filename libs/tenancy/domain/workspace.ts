import { type Decider } from '#libs/kernel/decider.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { shownId } from '#libs/kernel/ids.js';
import { type Role, type WorkspaceEvent } from '../published.js';

export type WorkspaceCommand =
  | {
      readonly type: 'create';
      readonly workspaceId: string;
      readonly orgname: string;
      readonly name: string;
      readonly email: string;
      readonly ownerId: string;
      readonly now: number;
    }
  | { readonly type: 'rename'; readonly workspaceId: string; readonly name: string; readonly now: number }
  | { readonly type: 'delete'; readonly workspaceId: string; readonly now: number }
  | ({ readonly type: 'add_member'; readonly role: Role } & OfMember)
  | ({ readonly type: 'change_role'; readonly role: Role } & OfMember)
  | ({ readonly type: 'remove_member' } & OfMember);

interface OfMember {
  readonly workspaceId: string;
  readonly userId: string;
  /** User who requests the change. Absent for the operator. */
  readonly by?: string;
  readonly now: number;
}

export type WorkspaceState = {
  readonly name: string;
  readonly ownerId: string;
  /** Roles by user id. */
  readonly members: Readonly<Record<string, Role>>;
  readonly isDeleted?: true;
} | null;

export const workspace: Decider<WorkspaceCommand, WorkspaceEvent, WorkspaceState> = {
  category: 'workspace',
  initialState: () => null,
  decide(command, state) {
    if (command.type === 'create') {
      if (state) return [];
      const { workspaceId, orgname, name, email, ownerId, now } = command;
      mustBeName(name);
      return [{ type: 'WorkspaceCreated', data: { workspaceId, orgname, name, email, ownerId, createdAt: now } }];
    }
    const { workspaceId } = command;
    if (!state || (state.isDeleted && command.type !== 'delete')) throw workspaceNotFound(workspaceId);
    switch (command.type) {
      case 'rename':
        mustBeName(command.name);
        if (command.name === state.name) return [];
        return [{ type: 'WorkspaceRenamed', data: { name: command.name, renamedAt: command.now } }];
      case 'delete':
        return state.isDeleted ? [] : [{ type: 'WorkspaceDeleted', data: { deletedAt: command.now } }];
      default:
        return decideMember(command, state);
    }
  },
  evolve(state, event) {
    switch (event.type) {
      case 'WorkspaceCreated':
        return {
          name: event.data.name,
          ownerId: event.data.ownerId,
          members: { [event.data.ownerId]: 'owner' },
        };
      case 'WorkspaceRenamed':
        return state && { ...state, name: event.data.name };
      case 'WorkspaceDeleted':
        return state && { ...state, members: {}, isDeleted: true };
      case 'WorkspaceMemberAdded':
      case 'WorkspaceMemberRoleChanged': {
        if (!state) return state;
        const { userId, role } = event.data;
        return { ...state, members: { ...state.members, [userId]: role } };
      }
      case 'WorkspaceMemberRemoved': {
        if (!state) return state;
        const { [event.data.userId]: _, ...members } = state.members;
        return { ...state, members };
      }
    }
  },
};

/**
 * Decides a change of one member. Members may leave and owners step down at any time, the last owner too, because no
 * member may be bound by a role that another user granted. Only the operator can assign an owner to a workspace without
 * one.
 */
const decideMember = (
  command: Extract<WorkspaceCommand, OfMember>,
  state: NonNullable<WorkspaceState>,
): WorkspaceEvent[] => {
  const { userId, now } = command;
  mustBeAllowed(command, state);
  const role = state.members[userId];
  switch (command.type) {
    case 'add_member':
      if (role === command.role) return [];
      if (role !== undefined) throw alreadyMember(userId, role);
      return [{ type: 'WorkspaceMemberAdded', data: { userId, role: command.role, addedAt: now } }];
    case 'change_role':
      if (role === undefined) throw memberNotFound(userId);
      if (role === command.role) return [];
      return [{ type: 'WorkspaceMemberRoleChanged', data: { userId, role: command.role, changedAt: now } }];
    case 'remove_member':
      if (role === undefined) throw memberNotFound(userId);
      return [{ type: 'WorkspaceMemberRemoved', data: { userId, removedAt: now } }];
  }
};

/**
 * Checks the state on which the change is decided, so that an owner who is being removed cannot remove others. The view
 * that the route checks may lag.
 */
const mustBeAllowed = (
  { type, userId, by, workspaceId }: Extract<WorkspaceCommand, OfMember>,
  { members }: NonNullable<WorkspaceState>,
): void => {
  if (by === undefined || members[by] === 'owner') return;
  if (type === 'remove_member' && by === userId) return;
  throw notAnOwner(workspaceId, members[by]);
};

const notAnOwner = (workspaceId: string, role: Role | undefined): DomainError =>
  new DomainError('auth.not_an_owner', `only an owner of workspace ${shownId(workspaceId)} may do this`, {
    id: shownId(workspaceId),
    ...(role === undefined ? {} : { role }),
  });

export const workspaceNotFound = (workspaceId: string): DomainError =>
  new DomainError('workspace.not_found', `there is no workspace ${shownId(workspaceId)}`, { id: shownId(workspaceId) });

export const memberNotFound = (userId: string): DomainError =>
  new DomainError('member.not_found', `the workspace has no member ${shownId(userId)}`, { id: shownId(userId) });

const alreadyMember = (userId: string, role: Role): DomainError =>
  new DomainError(
    'member.already_exists',
    `${userId} is in the workspace already, as ${role}: change the role instead`,
    {
      id: userId,
      role,
    },
  );

const MAX_NAME = 255;

const mustBeName = (name: string): void => {
  if (name !== '' && name.length <= MAX_NAME && name.isWellFormed() && !/\p{Cc}/u.test(name)) return;
  throw new DomainError(
    'request.invalid_parameter',
    `the name of a workspace must be 1 to ${MAX_NAME} characters without control characters; it has ${name.length}`,
    { field: 'workspace', limit: MAX_NAME, actual: name.length },
  );
};
