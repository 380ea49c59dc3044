import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Projection } from '#libs/kernel/projection.js';
import { type Doc } from '#libs/kernel/read-model-store.js';
import { type Role, type WorkspaceEvent } from '../published.js';

export interface WorkspaceDoc extends Doc {
  readonly orgname: string;
  readonly name: string;
  readonly email: string;
  readonly ownerId: string;
  /** Roles by user id. */
  readonly members: Readonly<Record<string, Role>>;
  /** Epoch milliseconds in fixed width. */
  readonly createdAt: string;
}

const WORKSPACE_EVENTS: readonly WorkspaceEvent['type'][] = [
  'WorkspaceCreated',
  'WorkspaceRenamed',
  'WorkspaceDeleted',
  'WorkspaceMemberAdded',
  'WorkspaceMemberRoleChanged',
  'WorkspaceMemberRemoved',
];

export const workspacesProjection: Projection<WorkspaceDoc> = {
  name: 'tenancy.workspaces.v2',
  schema: {
    name: 'tenancy.workspaces.v2',
    indexed: ['ownerId'],
    sort: 'createdAt',
  },
  keys: ({ type, stream }) => (WORKSPACE_EVENTS.some((known) => known === type) ? [idOf(stream)] : []),
  evolve(doc, recorded, id) {
    const event = recorded as RecordedEvent & WorkspaceEvent;
    switch (event.type) {
      case 'WorkspaceCreated': {
        const { orgname, name, email, ownerId, createdAt } = event.data;
        return {
          id,
          orgname,
          name,
          email,
          ownerId,
          members: { [ownerId]: 'owner' },
          createdAt: String(createdAt).padStart(15, '0'),
        };
      }
      case 'WorkspaceRenamed':
        return doc && { ...doc, name: event.data.name };
      case 'WorkspaceDeleted':
        return undefined;
      case 'WorkspaceMemberAdded':
      case 'WorkspaceMemberRoleChanged': {
        if (!doc) return doc;
        const { userId, role } = event.data;
        return { ...doc, members: { ...doc.members, [userId]: role } };
      }
      case 'WorkspaceMemberRemoved': {
        if (!doc) return doc;
        const { [event.data.userId]: _, ...members } = doc.members;
        return { ...doc, members };
      }
      default:
        return doc;
    }
  },
};
