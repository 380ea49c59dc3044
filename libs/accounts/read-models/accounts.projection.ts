import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Projection } from '#libs/kernel/projection.js';
import { type Doc } from '#libs/kernel/read-model-store.js';
import { type AccountEvent } from '../published.js';

export interface AccountDoc extends Doc {
  readonly workspaceId: string;
  readonly userId: string;
  readonly name: string | null;
  readonly app: string;
  /** Epoch ms in fixed width. */
  readonly createdAt: string;
  /** Epoch ms. */
  readonly updatedAt: number;
}

const ACCOUNT_EVENTS: readonly AccountEvent['type'][] = ['AccountConnected', 'AccountUpdated', 'AccountDisconnected'];

export const accountsProjection: Projection<AccountDoc> = {
  name: 'accounts.accounts.v1',
  schema: { name: 'accounts.accounts.v1', indexed: ['workspaceId', 'userId', 'app'], sort: 'createdAt' },
  keys: ({ type, stream }) => (ACCOUNT_EVENTS.some((known) => known === type) ? [idOf(stream)] : []),
  evolve(doc, recorded, id) {
    const event = recorded as RecordedEvent & AccountEvent;
    switch (event.type) {
      case 'AccountConnected': {
        const { userId, name, app, connectedAt } = event.data;
        const times = { createdAt: String(connectedAt).padStart(15, '0'), updatedAt: connectedAt };
        return { id, workspaceId: event.metadata.workspaceId, userId, name, app, ...times };
      }
      case 'AccountUpdated':
        return doc && { ...doc, name: event.data.name, updatedAt: event.data.updatedAt };
      case 'AccountDisconnected':
        return undefined;
      default:
        return doc;
    }
  },
};
