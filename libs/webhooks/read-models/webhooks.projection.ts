import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Revised, withRevision } from '#libs/kernel/with-revision.js';
import { type WebhookEvent, type WebhookRules } from '../published.js';

export interface WebhookDoc extends Revised {
  readonly workspaceId: string;
  readonly userId: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly url: string;
  readonly active: boolean;
  readonly rules: WebhookRules;
  /** Reason why the platform stopped delivering; null when it did not. */
  readonly disabledReason: string | null;
  /** Epoch ms in fixed width. */
  readonly createdAt: string;
  /** Epoch ms. */
  readonly updatedAt: number;
}

/** Every event, because each changes the revision. */
const EVENTS = {
  WebhookCreated: true,
  WebhookUpdated: true,
  WebhookDisabled: true,
  WebhookSigningKeyRegenerated: true,
  WebhookDeleted: true,
} satisfies Record<WebhookEvent['type'], true>;

export const webhooksProjection = withRevision<WebhookDoc>({
  name: 'webhooks.webhooks.v2',
  schema: {
    name: 'webhooks.webhooks.v2',
    indexed: ['workspaceId', 'userId'],
    sort: 'createdAt',
    counted: [['workspaceId'], ['userId'], ['userId', 'workspaceId']],
  },
  keys: ({ type, stream }) => (Object.hasOwn(EVENTS, type) ? [idOf(stream)] : []),
  evolve(doc, recorded, id) {
    const event = recorded as RecordedEvent & WebhookEvent;
    switch (event.type) {
      case 'WebhookCreated': {
        const { userId, name, description, url, rules, createdAt } = event.data;
        const { workspaceId } = event.metadata;
        const state = { active: true, rules, disabledReason: null };
        const times = { createdAt: String(createdAt).padStart(15, '0'), updatedAt: createdAt };
        return { id, workspaceId, userId, name, description, url, ...state, ...times };
      }
      case 'WebhookUpdated':
        return doc && { ...doc, ...event.data, disabledReason: null };
      case 'WebhookDisabled':
        return doc && { ...doc, active: false, disabledReason: event.data.reason, updatedAt: event.data.disabledAt };
      case 'WebhookSigningKeyRegenerated':
        return doc && { ...doc, updatedAt: event.data.regeneratedAt };
      case 'WebhookDeleted':
        return undefined;
      default:
        return doc;
    }
  },
});
