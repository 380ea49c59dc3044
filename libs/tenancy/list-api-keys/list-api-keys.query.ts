import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type Page, type PageQuery, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { apiKeysProjection, type ApiKeyDoc } from '../read-models/api-keys.projection.js';

export class ListApiKeys extends Query<Page<ApiKeyDoc>> {
  constructor(
    readonly userId: string,
    readonly page: Omit<PageQuery, 'where'>,
  ) {
    super();
  }
}

@QueryHandler(ListApiKeys)
export class ListApiKeysHandler implements IQueryHandler<ListApiKeys> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  execute({ userId, page }: ListApiKeys): Promise<Page<ApiKeyDoc>> {
    return this.readModels.page<ApiKeyDoc>(apiKeysProjection.schema, { where: { userId }, ...page });
  }
}
