import { DomainError } from '#libs/kernel/domain-error.js';
import { otherKindHint } from '#libs/kernel/id-kinds.js';
import { isIdOf, shownId } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { webhookInactive } from './domain/webhook.js';
import { type WebhookDoc, webhooksProjection } from './read-models/webhooks.projection.js';

/** Finds a webhook of these workspaces. Throws webhook.not_found, also for a webhook of another workspace. */
export const findWebhook = async (
  readModels: ReadModelStore,
  workspaceIds: readonly string[],
  webhookId: string,
): Promise<WebhookDoc> => {
  const isId = isIdOf('wh', webhookId);
  const doc = isId ? await readModels.get<WebhookDoc>(webhooksProjection.schema, webhookId) : undefined;
  if (doc && workspaceIds.includes(doc.workspaceId)) return doc;
  throw new DomainError(
    'webhook.not_found',
    `there is no webhook ${shownId(webhookId)} in your workspaces${otherKindHint(webhookId, 'wh')}`,
    { id: shownId(webhookId) },
  );
};

/** As findWebhook, for a request that sends to the webhook. Also throws webhook.inactive. */
export const findActiveWebhook = async (
  readModels: ReadModelStore,
  workspaceIds: readonly string[],
  webhookId: string,
): Promise<WebhookDoc> => {
  const doc = await findWebhook(readModels, workspaceIds, webhookId);
  if (!doc.active) throw webhookInactive(webhookId, doc.disabledReason);
  return doc;
};
