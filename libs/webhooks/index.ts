export { webhooksContext } from './context.js';
export { WebhooksModule } from './webhooks.module.js';
export { WebhookCleanUpReactor } from './clean-up/webhook-clean-up.reactor.js';
export { disableWebhook } from './disable-webhook/disable-webhook.handler.js';
export { webhook } from './domain/webhook.js';
export { type DeliveryReach, type WebhookTopics } from './ports.js';
export { AttemptSource } from './stream-deliveries/attempt-source.js';
export { attemptsProjection } from './read-models/attempts.projection.js';
export { webhookDirectory } from './webhooks-view.js';
