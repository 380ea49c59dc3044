import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { findWebhook } from '../find-webhook.js';
import { type WebhookDoc } from '../read-models/webhooks.projection.js';

export class GetWebhook extends Query<WebhookDoc> {
  constructor(
    readonly webhookId: string,
    readonly workspaceIds: readonly string[],
  ) {
    super();
  }
}

@QueryHandler(GetWebhook)
export class GetWebhookHandler implements IQueryHandler<GetWebhook> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  execute({ webhookId, workspaceIds }: GetWebhook): Promise<WebhookDoc> {
    return findWebhook(this.readModels, workspaceIds, webhookId);
  }
}
