import { readAll } from '#libs/kernel/read-all.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type WebhookDoc, webhooksProjection } from './read-models/webhooks.projection.js';

/** Reads every webhook of a workspace, the newest first. */
export const webhooksOfWorkspace =
  (readModels: ReadModelStore) =>
  (workspaceId: string): Promise<readonly WebhookDoc[]> =>
    readAll<WebhookDoc>(readModels, webhooksProjection.schema, { workspaceId });
