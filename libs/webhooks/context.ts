import { auditable } from '#libs/kernel/auditable.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type Context } from '#libs/kernel/context.js';
import { WebhookCleanUpReactor, type WebhookCleanUpDependencies } from './clean-up/webhook-clean-up.reactor.js';
import { webhook } from './domain/webhook.js';
import { WEBHOOK_LIMITS } from './limits.js';
import { type WebhookTopics } from './ports.js';
import { type WebhookEvent } from './published.js';
import { attemptsProjection } from './read-models/attempts.projection.js';
import { webhooksProjection } from './read-models/webhooks.projection.js';
import { WebhooksModule, type WebhooksPorts } from './webhooks.module.js';
import { WebhooksView } from './webhooks-view.js';

type CleanUpPorts = Pick<WebhookCleanUpDependencies, 'events' | 'vault'> & { readonly webhookTopics: WebhookTopics };

export const webhooksContext = {
  projections: [webhooksProjection],
  streamReadModels: {
    attempts: {
      projection: () => attemptsProjection,
      cleanUp: ({ events, vault, webhookTopics }: CleanUpPorts, attempts: WebhookCleanUpDependencies['attempts']) =>
        new WebhookCleanUpReactor({ events, vault, attempts, topics: webhookTopics }),
    },
  },
  views: (clock: Clock) => ({ webhooks: new WebhooksView(clock) }),
  ids: ['wh', 'dlv'],
  limits: WEBHOOK_LIMITS,
  auditable: [auditable('wh', webhook)],
  workspaceAudit: [webhook.category],
  holds: {
    what: 'webhook',
    from: 'WebhookCreated' satisfies WebhookEvent['type'],
    until: 'WebhookDeleted' satisfies WebhookEvent['type'],
  },
  module: (ports: WebhooksPorts) => WebhooksModule.forRoot(ports),
} as const satisfies Context;
