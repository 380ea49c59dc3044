import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type Page, type PageQuery, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type AccountDoc, accountsProjection } from '../read-models/accounts.projection.js';

export class ListAccounts extends Query<Page<AccountDoc>> {
  constructor(readonly page: PageQuery) {
    super();
  }
}

@QueryHandler(ListAccounts)
export class ListAccountsHandler implements IQueryHandler<ListAccounts> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  execute({ page }: ListAccounts): Promise<Page<AccountDoc>> {
    return this.readModels.page<AccountDoc>(accountsProjection.schema, page);
  }
}
