import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type Page, type PageQuery, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type WebhookDoc, webhooksProjection } from '../read-models/webhooks.projection.js';

export class ListWebhooks extends Query<Page<WebhookDoc>> {
  constructor(readonly page: PageQuery) {
    super();
  }
}

@QueryHandler(ListWebhooks)
export class ListWebhooksHandler implements IQueryHandler<ListWebhooks> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  execute({ page }: ListWebhooks): Promise<Page<WebhookDoc>> {
    return this.readModels.page<WebhookDoc>(webhooksProjection.schema, page);
  }
}
