import { Controller, Get } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { creationSortOf } from '#libs/kernel/ids.js';
import { Operation } from '#libs/http/operation.js';
import { listReply, type ListReply, pageQuery } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { paged } from '#libs/http/replies.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { dataStoreReply, type DataStoreReply, DataStoreSchema } from '../data-store-reply.js';
import { ListDataStores } from './list-data-stores.query.js';

@Controller('v1/data_stores')
export class ListDataStoresController {
  constructor(private readonly queries: QueryBus) {}

  @Get()
  @Operation({ summary: 'Data stores of a workspace, newest first', paged: true, reply: paged(DataStoreSchema) })
  async list(
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<DataStoreReply>> {
    const page = { where: { workspaceId: workspaceOf(caller) }, ...pageQuery(params, creationSortOf('ds')) };
    const found = await this.queries.execute(new ListDataStores(page));
    return listReply(found, (doc) => dataStoreReply(doc, doc.workspaceId));
  }
}
