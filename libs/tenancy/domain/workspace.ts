import { type Decider } from '#libs/kernel/decider.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { derivedId } from '#libs/kernel/ids.js';
import { type WorkspaceEvent } from '../published.js';

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
  | { readonly type: 'add_member'; readonly workspaceId: string; readonly userId: string; readonly now: number };

export type WorkspaceState = { readonly ownerId: string; readonly members: readonly string[] } | null;

/** Workspace id of a user who registered before ids were random. */
export const firstWorkspaceIdOf = (userId: string): string => derivedId('o', 'first workspace', userId);

export const workspace: Decider<WorkspaceCommand, WorkspaceEvent, WorkspaceState> = {
  category: 'workspace',
  initialState: () => null,
  decide(command, state) {
    switch (command.type) {
      case 'create': {
        if (state) return [];
        const { workspaceId, orgname, name, email, ownerId, now } = command;
        mustBeName(name);
        return [{ type: 'WorkspaceCreated', data: { workspaceId, orgname, name, email, ownerId, createdAt: now } }];
      }
      case 'add_member': {
        const { workspaceId, userId, now } = command;
        if (!state)
          throw new DomainError('workspace.not_found', `there is no workspace ${workspaceId}`, { id: workspaceId });
        if (state.members.includes(userId)) return [];
        return [{ type: 'WorkspaceMemberAdded', data: { userId, addedAt: now } }];
      }
    }
  },
  evolve(state, event) {
    switch (event.type) {
      case 'WorkspaceCreated':
        return { ownerId: event.data.ownerId, members: [event.data.ownerId] };
      case 'WorkspaceMemberAdded':
        return state && { ...state, members: [...state.members, event.data.userId] };
    }
  },
};

const MAX_NAME = 255;

const mustBeName = (name: string): void => {
  if (name !== '' && name.length <= MAX_NAME && name.isWellFormed() && !/\p{Cc}/u.test(name)) return;
  throw new DomainError(
    'request.invalid_parameter',
    `the name of a workspace must be 1 to ${MAX_NAME} characters without control characters; it has ${name.length}`,
    { field: 'workspace', limit: MAX_NAME, actual: name.length },
  );
};
