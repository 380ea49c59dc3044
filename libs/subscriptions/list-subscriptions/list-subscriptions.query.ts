import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type OwnResources } from '#libs/http/workspace.js';
import { readAll } from '#libs/kernel/read-all.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type SubscriptionDoc, subscriptionsProjection } from '../read-models/subscriptions.projection.js';

/** Lists all subscriptions of a user or of a workspace, newest first. */
export class ListSubscriptions extends Query<readonly SubscriptionDoc[]> {
  constructor(readonly where: OwnResources | { readonly workspaceId: string }) {
    super();
  }
}

@QueryHandler(ListSubscriptions)
export class ListSubscriptionsHandler implements IQueryHandler<ListSubscriptions> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  async execute({ where }: ListSubscriptions): Promise<readonly SubscriptionDoc[]> {
    return readAll<SubscriptionDoc>(this.readModels, subscriptionsProjection.schema, { ...where });
  }
}
