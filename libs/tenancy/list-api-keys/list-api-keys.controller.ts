import { Controller, Get } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { listReply, pageQuery, type ListReply } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { paged } from '#libs/http/replies.js';
import { type TypeOf } from '#libs/http/reply-schema.js';
import { type Caller } from '#libs/http/callers.js';
import { ApiKey, apiKeyReply } from '../api-key-reply.js';
import { ListApiKeys } from './list-api-keys.query.js';
import { creationSortOf } from '#libs/kernel/ids.js';

@Controller('v1/api_keys')
export class ListApiKeysController {
  constructor(private readonly queries: QueryBus) {}

  /** An extension: lists the caller's valid keys, never their texts. */
  @Get()
  @Operation({ summary: 'API keys of the user that are in force', paged: true, reply: paged(ApiKey) })
  async list(
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<TypeOf<typeof ApiKey>>> {
    const page = pageQuery(params, creationSortOf('key'));
    const keys = await this.queries.execute(new ListApiKeys(caller.userId, page));
    return listReply(keys, apiKeyReply);
  }
}
