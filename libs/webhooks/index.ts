export { webhooksContext } from './context.js';
export { WebhooksModule } from './webhooks.module.js';
export { WebhookCleanUpReactor, type WebhookCleanUpDependencies } from './clean-up/webhook-clean-up.reactor.js';
export { DisableWebhook, disableWebhook } from './disable-webhook/disable-webhook.handler.js';
export { webhook } from './domain/webhook.js';
export { type DeliveryReach, type RetainedEvents, type WebhookTopics } from './ports.js';
export { attemptsProjection } from './read-models/attempts.projection.js';
export { type DeliverableWebhook, type KnownWebhook, webhookDirectory, WebhooksView } from './webhooks-view.js';
