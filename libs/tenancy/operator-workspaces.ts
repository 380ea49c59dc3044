import { type Clock } from '#libs/kernel/clock.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { newId } from '#libs/kernel/ids.js';
import { mustHaveRoomFor } from './domain/member-limit.js';
import { workspace } from './domain/workspace.js';
import { byOperator } from './operator.js';
import { type Role } from './published.js';
import { type RegisteredUser } from './key-register.js';
import { type RegisteredWorkspace } from './workspace-register.js';
import { TENANCY_LIMITS } from './limits.js';

/** Workspaces and members that the operator changes on the command line. Their actor is the operator. */
export interface OperatorWorkspaces {
  readonly handleCommand: HandleCommand;
  readonly clock: Clock;
}

/** Makes a further workspace of a user, who is its owner. Resolves with its id. */
export const createWorkspaceFor = async (
  { handleCommand, clock }: OperatorWorkspaces,
  { userId, username, email }: RegisteredUser,
  name: string,
): Promise<string> => {
  const now = clock.now();
  const workspaceId = newId('o', now);
  const orgname = username.toLowerCase();
  const create = { type: 'create', workspaceId, orgname, name, email, ownerId: userId, now } as const;
  await handleCommand(workspace, workspaceId, create, byOperator(workspaceId));
  return workspaceId;
};

/** Resolves with whether the name changed. */
export const renameWorkspace = async (
  { handleCommand, clock }: OperatorWorkspaces,
  workspaceId: string,
  name: string,
): Promise<boolean> => {
  const rename = { type: 'rename', workspaceId, name, now: clock.now() } as const;
  const { events } = await handleCommand(workspace, workspaceId, rename, byOperator(workspaceId));
  return events.length > 0;
};

/** Deletes a workspace. The caller has checked that it has no resources, because they would become unreachable. */
export const deleteWorkspace = async (
  { handleCommand, clock }: OperatorWorkspaces,
  workspaceId: string,
): Promise<void> => {
  const command = { type: 'delete', workspaceId, now: clock.now() } as const;
  await handleCommand(workspace, workspaceId, command, byOperator(workspaceId));
};

export type MemberChange =
  { readonly type: 'add_member' | 'change_role'; readonly role: Role } | { readonly type: 'remove_member' };

/**
 * Adds a user to a workspace, changes the role of a member, or removes one. Resolves with whether anything changed.
 * Throws member.not_found, member.already_exists or workspace.limit_reached.
 */
export const changeMemberOf = async (
  { handleCommand, clock }: OperatorWorkspaces,
  { workspaceId, members }: RegisteredWorkspace,
  userId: string,
  change: MemberChange,
): Promise<boolean> => {
  if (change.type === 'add_member' && !members.has(userId))
    mustHaveRoomFor(members.size, TENANCY_LIMITS.membersPerWorkspace);
  const command = { ...change, workspaceId, userId, now: clock.now() };
  const { events } = await handleCommand(workspace, workspaceId, command, byOperator(workspaceId));
  return events.length > 0;
};
