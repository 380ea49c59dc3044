import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Projection } from '#libs/kernel/projection.js';
import { type Doc } from '#libs/kernel/read-model-store.js';
import { type EventFilter, type SubscriptionEvent } from '../published.js';

export interface SubscriptionDoc extends Doc {
  readonly workspaceId: string;
  readonly userId: string;
  readonly emitterId: string;
  readonly listenerId: string;
  readonly eventName: string;
  /** JSON text, because names in it may be any text; null for none. */
  readonly filter: string | null;
  /** Epoch ms in fixed width. */
  readonly createdAt: string;
}

const EVENTS: readonly SubscriptionEvent['type'][] = [
  'SubscriptionCreated',
  'SubscriptionFilterChanged',
  'SubscriptionDeleted',
];

const textOf = (filter: EventFilter | null | undefined): string | null => (filter ? JSON.stringify(filter) : null);

export const subscriptionsProjection: Projection<SubscriptionDoc> = {
  name: 'subscriptions.subscriptions.v2',
  schema: {
    name: 'subscriptions.subscriptions.v2',
    indexed: ['workspaceId', 'userId', 'emitterId', 'listenerId'],
    sort: 'createdAt',
    replaces: ['subscriptions.subscriptions.v1'],
  },
  keys: ({ type, stream }) => (EVENTS.some((known) => known === type) ? [idOf(stream)] : []),
  evolve(doc, recorded, id) {
    const event = recorded as RecordedEvent & SubscriptionEvent;
    switch (event.type) {
      case 'SubscriptionCreated': {
        const { userId, emitterId, listenerId, eventName, createdAt } = event.data;
        const filter = textOf(event.data.filter);
        const { workspaceId } = event.metadata;
        const sort = String(createdAt).padStart(15, '0');
        return { id, workspaceId, userId, emitterId, listenerId, eventName, filter, createdAt: sort };
      }
      case 'SubscriptionFilterChanged':
        return doc && { ...doc, filter: textOf(event.data.filter) };
      case 'SubscriptionDeleted':
        return undefined;
      default:
        return doc;
    }
  },
};
