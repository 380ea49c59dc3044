import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type Page, type PageQuery, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type DataStoreDoc, dataStoresProjection } from '../read-models/data-stores.projection.js';

export class ListDataStores extends Query<Page<DataStoreDoc>> {
  constructor(readonly page: PageQuery) {
    super();
  }
}

@QueryHandler(ListDataStores)
export class ListDataStoresHandler implements IQueryHandler<ListDataStores> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  execute({ page }: ListDataStores): Promise<Page<DataStoreDoc>> {
    return this.readModels.page<DataStoreDoc>(dataStoresProjection.schema, page);
  }
}
