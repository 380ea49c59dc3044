import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { withRevision, type Revised } from '#libs/kernel/with-revision.js';
import { type EventFilter, type SubscriptionEvent } from '../published.js';

export interface SubscriptionDoc extends Revised {
  readonly workspaceId: string;
  readonly userId: string;
  readonly emitterId: string;
  readonly listenerId: string;
  readonly eventName: string;
  /** JSON text, because names in it may be any text; null for none. */
  readonly filter: string | null;
  /** Present when the workflow that listens owns the subscription. */
  readonly trigger?: string;
  /** Epoch ms in fixed width. */
  readonly createdAt: string;
}

/** Every event, because each changes the revision. */
const EVENTS = {
  SubscriptionCreated: true,
  SubscriptionFilterChanged: true,
  SubscriptionReplayStarted: true,
  SubscriptionReplayCancelled: true,
  SubscriptionDeleted: true,
} satisfies Record<SubscriptionEvent['type'], true>;

const textOf = (filter: EventFilter | null | undefined): string | null => (filter ? JSON.stringify(filter) : null);

export const subscriptionsProjection = withRevision<SubscriptionDoc>({
  name: 'subscriptions.subscriptions.v3',
  schema: {
    name: 'subscriptions.subscriptions.v3',
    indexed: ['workspaceId', 'userId', 'emitterId', 'listenerId'],
    sort: 'createdAt',
    counted: [['workspaceId']],
  },
  keys: ({ type, stream }) => (Object.hasOwn(EVENTS, type) ? [idOf(stream)] : []),
  evolve(doc, recorded, id) {
    const event = recorded as RecordedEvent & SubscriptionEvent;
    switch (event.type) {
      case 'SubscriptionCreated': {
        const { userId, emitterId, listenerId, eventName, createdAt } = event.data;
        const filter = textOf(event.data.filter);
        const owned = event.data.trigger ? { trigger: event.data.trigger.name } : {};
        const { workspaceId } = event.metadata;
        const sort = String(createdAt).padStart(15, '0');
        return { id, workspaceId, userId, emitterId, listenerId, eventName, filter, ...owned, createdAt: sort };
      }
      case 'SubscriptionFilterChanged':
        return doc && { ...doc, filter: textOf(event.data.filter) };
      case 'SubscriptionDeleted':
        return undefined;
      default:
        return doc;
    }
  },
});
