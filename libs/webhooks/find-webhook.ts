import { DomainError } from '#libs/kernel/domain-error.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type WebhookDoc, webhooksProjection } from './read-models/webhooks.projection.js';

/** Throws webhook.not_found, also when it belongs to a workspace that is not among these. */
export const findWebhook = async (
  readModels: ReadModelStore,
  workspaceIds: readonly string[],
  webhookId: string,
): Promise<WebhookDoc> => {
  const doc = await readModels.get<WebhookDoc>(webhooksProjection.schema, webhookId);
  if (doc && workspaceIds.includes(doc.workspaceId)) return doc;
  throw new DomainError('webhook.not_found', `there is no webhook ${webhookId.slice(0, 100)}`, { id: webhookId });
};
