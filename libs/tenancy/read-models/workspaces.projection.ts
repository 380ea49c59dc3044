import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Projection } from '#libs/kernel/projection.js';
import { type Doc } from '#libs/kernel/read-model-store.js';
import { type WorkspaceEvent } from '../published.js';

export interface WorkspaceDoc extends Doc {
  readonly orgname: string;
  readonly name: string;
  readonly email: string;
  readonly ownerId: string;
  readonly memberIds: readonly string[];
  /** Epoch milliseconds in fixed width. */
  readonly createdAt: string;
}

export const workspacesProjection: Projection<WorkspaceDoc> = {
  name: 'tenancy.workspaces.v1',
  schema: { name: 'tenancy.workspaces.v1', indexed: ['ownerId'], sort: 'createdAt' },
  keys: ({ type, stream }) => (type === 'WorkspaceCreated' || type === 'WorkspaceMemberAdded' ? [idOf(stream)] : []),
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
          memberIds: [ownerId],
          createdAt: String(createdAt).padStart(15, '0'),
        };
      }
      case 'WorkspaceMemberAdded':
        if (!doc || doc.memberIds.includes(event.data.userId)) return doc;
        return { ...doc, memberIds: [...doc.memberIds, event.data.userId] };
      default:
        return doc;
    }
  },
};
