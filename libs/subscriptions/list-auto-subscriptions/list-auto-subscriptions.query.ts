import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type OwnResources } from '#libs/http/workspace.js';
import { readAll } from '#libs/kernel/read-all.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type AutoSubscriptionDoc, autoSubscriptionsProjection } from '../read-models/auto-subscriptions.projection.js';

/** Lists all auto-subscriptions of a user, newest first. */
export class ListAutoSubscriptions extends Query<readonly AutoSubscriptionDoc[]> {
  constructor(readonly where: OwnResources) {
    super();
  }
}

@QueryHandler(ListAutoSubscriptions)
export class ListAutoSubscriptionsHandler implements IQueryHandler<ListAutoSubscriptions> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  async execute({ where }: ListAutoSubscriptions): Promise<readonly AutoSubscriptionDoc[]> {
    return readAll<AutoSubscriptionDoc>(this.readModels, autoSubscriptionsProjection.schema, { ...where });
  }
}
