import { idOf, type Position, type RecordedEvent } from '#libs/kernel/events.js';
import { type Projection } from '#libs/kernel/projection.js';
import { type Doc } from '#libs/kernel/read-model-store.js';
import { type AutoSubscribed, type AutoSubscriptionEvent } from '../published.js';

export interface AutoSubscriptionDoc extends Doc {
  readonly workspaceId: string;
  readonly userId: string;
  readonly listenerId: string;
  readonly eventName: AutoSubscribed;
  /** Position of its creation. It applies to sources later in the log. */
  readonly since: Position;
  /** Epoch ms in fixed width. */
  readonly createdAt: string;
}

export const autoSubscriptionsProjection: Projection<AutoSubscriptionDoc> = {
  name: 'subscriptions.auto.v1',
  schema: {
    name: 'subscriptions.auto.v1',
    indexed: ['workspaceId', 'userId', 'listenerId'],
    sort: 'createdAt',
  },
  keys: ({ type, stream }) =>
    type === 'AutoSubscriptionCreated' || type === 'AutoSubscriptionDeleted' ? [idOf(stream)] : [],
  evolve(doc, recorded, id) {
    const event = recorded as RecordedEvent & AutoSubscriptionEvent;
    switch (event.type) {
      case 'AutoSubscriptionCreated': {
        const { userId, listenerId, eventName, createdAt } = event.data;
        const { workspaceId } = event.metadata;
        const sort = String(createdAt).padStart(15, '0');
        return { id, workspaceId, userId, listenerId, eventName, since: event.position, createdAt: sort };
      }
      case 'AutoSubscriptionDeleted':
        return undefined;
      default:
        return doc;
    }
  },
};
