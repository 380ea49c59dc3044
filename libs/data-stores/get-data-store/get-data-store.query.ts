import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { findDataStore } from '../find-data-store.js';
import { type DataStoreDoc } from '../read-models/data-stores.projection.js';

export class GetDataStore extends Query<DataStoreDoc> {
  constructor(
    readonly storeId: string,
    readonly workspaceIds: readonly string[],
  ) {
    super();
  }
}

@QueryHandler(GetDataStore)
export class GetDataStoreHandler implements IQueryHandler<GetDataStore> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  execute({ storeId, workspaceIds }: GetDataStore): Promise<DataStoreDoc> {
    return findDataStore(this.readModels, workspaceIds, storeId);
  }
}
