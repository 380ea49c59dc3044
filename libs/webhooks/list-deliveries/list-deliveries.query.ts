import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type Page, type PageQuery, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { retainedPage } from '#libs/stream-log/retained-page.js';
import { findWebhook } from '../find-webhook.js';
import { type AttemptDoc, deliveryAttempts, RETAINED_ATTEMPTS } from '../read-models/attempts.projection.js';

/** Lists the attempts at a webhook's deliveries, newest first. Throws webhook.not_found. */
export class ListDeliveries extends Query<Page<AttemptDoc>> {
  constructor(
    readonly webhookId: string,
    readonly workspaceIds: readonly string[],
    readonly page: Omit<PageQuery, 'where'>,
  ) {
    super();
  }
}

@QueryHandler(ListDeliveries)
export class ListDeliveriesHandler implements IQueryHandler<ListDeliveries> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  async execute({ webhookId, workspaceIds, page }: ListDeliveries): Promise<Page<AttemptDoc>> {
    await findWebhook(this.readModels, workspaceIds, webhookId);
    return retainedPage<AttemptDoc>(
      this.readModels,
      deliveryAttempts,
      { where: { webhookId }, ...page },
      RETAINED_ATTEMPTS,
    );
  }
}
