import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Projection } from '#libs/kernel/projection.js';
import { type Doc } from '#libs/kernel/read-model-store.js';
import { type SubscriptionEvent } from '../published.js';

export interface SubscriptionDoc extends Doc {
  readonly workspaceId: string;
  readonly userId: string;
  readonly emitterId: string;
  readonly listenerId: string;
  readonly eventName: string;
  /** Epoch ms in fixed width. */
  readonly createdAt: string;
}

export const subscriptionsProjection: Projection<SubscriptionDoc> = {
  name: 'subscriptions.subscriptions.v1',
  schema: {
    name: 'subscriptions.subscriptions.v1',
    indexed: ['workspaceId', 'userId', 'emitterId', 'listenerId'],
    sort: 'createdAt',
  },
  keys: ({ type, stream }) => (type === 'SubscriptionCreated' || type === 'SubscriptionDeleted' ? [idOf(stream)] : []),
  evolve(doc, recorded, id) {
    const event = recorded as RecordedEvent & SubscriptionEvent;
    switch (event.type) {
      case 'SubscriptionCreated': {
        const { userId, emitterId, listenerId, eventName, createdAt } = event.data;
        const { workspaceId } = event.metadata;
        const sort = String(createdAt).padStart(15, '0');
        return { id, workspaceId, userId, emitterId, listenerId, eventName, createdAt: sort };
      }
      case 'SubscriptionDeleted':
        return undefined;
      default:
        return doc;
    }
  },
};
