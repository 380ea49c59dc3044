import { startWebhookWorker, type WebhookWorker, type WebhookWorkerOptions } from '#libs/delivery/webhook-worker.js';
import { type WebhookMetrics } from '#libs/delivery/webhook-settings.js';
import { type Egress } from '#libs/egress/guarded-dispatcher.js';
import { DELIVERIES } from '#libs/stream-log/topics.js';
import { disableWebhook, webhookDirectory } from '#libs/webhooks/index.js';
import { pressureOf } from '#libs/cluster/told-pressure.js';
import { type RoleProcess } from './role-process.js';

export interface WebhookWorkerRoleOptions {
  readonly egress: Pick<Egress, 'dispatcher'>;
}

const UNHEALTHY = 'fails or does not answer: its deliveries wait, and one at a time is tried';

/** Role `webhook-worker`, step 5 of the path of an event: signs and sends deliveries. */
export const startWebhookWorkerRole = async (
  own: RoleProcess,
  { egress }: WebhookWorkerRoleOptions,
): Promise<WebhookWorker> => {
  const { config, plane, tables, topics, logger, metrics, closing, reportBacklog } = own;
  const { engines, clock, views, handleCommand } = plane;
  const { log, due } = engines;
  const worker = await startWebhookWorker({
    log,
    due,
    topics,
    clock,
    logger,
    metrics: countingDeliveries(own),
    tables,
    directory: webhookDirectory(views.webhooks, engines.vault, { timeoutMs: config.webhookTimeoutS * 1_000 }),
    dispatcher: egress.dispatcher,
    settings: {
      concurrencyPerWebhook: config.webhookConcurrency,
      disableAfter: config.webhookDisableAfter,
    },
    onHealth: tellHealth(own),
    onDisable: async (webhookId, reason) => {
      const webhook = views.webhooks.find(webhookId);
      if (webhook) await disableWebhook(handleCommand, clock)(webhookId, webhook.workspaceId, reason);
    },
  });
  closing('deliveries', () => worker.close());

  reportBacklog({
    group: 'webhook-worker',
    prefix: DELIVERIES,
    backlog: () => worker.pressure.total(),
    pressure: () => pressureOf(worker.pressure),
  });
  metrics.sampled('sluice_deliveries_in_flight', 'Requests to webhooks in flight', () => worker.inFlight());
  return worker;
};

const countingDeliveries = ({ metrics: { webhooks }, plane: { usage } }: RoleProcess): WebhookMetrics => ({
  ...webhooks,
  onAttempt: (outcome, status, ms, workspaceId) => {
    webhooks.onAttempt(outcome, status, ms);
    usage.add(workspaceId, 'attempts');
  },
  onFailed: (workspaceId) => usage.add(workspaceId, 'failed'),
});

const tellHealth =
  ({ plane, platformEvents }: RoleProcess): NonNullable<WebhookWorkerOptions['onHealth']> =>
  (subject, change) => {
    const workspaceId = plane.views.webhooks.find(subject)?.workspaceId;
    if (workspaceId === undefined) return;
    platformEvents.report(
      change === 'unhealthy'
        ? { kind: 'webhook_unhealthy', workspaceId, subject, message: `webhook ${subject} ${UNHEALTHY}` }
        : { kind: 'webhook_recovered', workspaceId, subject, message: `webhook ${subject} answers again` },
    );
  };
