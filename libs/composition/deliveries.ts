import { type Config } from '#libs/config/index.js';
import { DEFAULT_RETRIES, withMaxAttempts } from '#libs/delivery/retry-policy.js';
import { startWebhookWorker, type WebhookWorker, type WebhookWorkerOptions } from '#libs/delivery/webhook-worker.js';
import { type Egress } from '#libs/egress/guarded-dispatcher.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Logger, type Metrics } from '#libs/telemetry/index.js';
import { disableWebhook, webhookDirectory } from '#libs/webhooks/index.js';
import { type ControlPlane } from './control-plane.js';

export interface DeliveriesOptions {
  readonly config: Config;
  readonly plane: ControlPlane;
  readonly topics: TopicPolicy;
  readonly egress: Pick<Egress, 'dispatcher'>;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Whether this process also publishes due retries. With several processes one does it, under a lease. */
  readonly pump: WebhookWorkerOptions['pump'];
}

export const startDeliveries = (options: DeliveriesOptions): Promise<WebhookWorker> => {
  const { config, plane, topics, egress, metrics, logger, pump } = options;
  const { engines, clock, views, handleCommand } = plane;
  return startWebhookWorker({
    log: engines.log,
    schedule: engines.schedule,
    topics,
    clock,
    logger,
    metrics: metrics.webhooks,
    pump,
    directory: webhookDirectory(views.webhooks, engines.vault, { timeoutMs: config.webhookTimeoutS * 1_000 }),
    dispatcher: egress.dispatcher,
    settings: {
      concurrencyPerWebhook: config.webhookConcurrency,
      retries: withMaxAttempts(DEFAULT_RETRIES, config.webhookMaxAttempts),
    },
    onDisable: async (webhookId, reason) => {
      const webhook = views.webhooks.find(webhookId);
      if (webhook) await disableWebhook(handleCommand, clock)(webhookId, webhook.workspaceId, reason);
    },
  });
};
