import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { one } from '#libs/http/replies.js';
import { dataStoreReply, type DataStoreReply, DataStoreSchema } from '../data-store-reply.js';
import { GetDataStore } from './get-data-store.query.js';

@Controller('v1/data_stores')
export class GetDataStoreController {
  constructor(private readonly queries: QueryBus) {}

  @Get(':id')
  @Operation({ summary: 'A data store', reply: one(DataStoreSchema) })
  async get(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<{ data: DataStoreReply }> {
    const doc = await this.queries.execute(new GetDataStore(id, caller.workspaceIds));
    return { data: dataStoreReply(doc, doc.workspaceId) };
  }
}
