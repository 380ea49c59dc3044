import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { listReply, type ListReply, pageQuery } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { paged } from '#libs/http/replies.js';
import { type TypeOf } from '#libs/http/reply-schema.js';
import { type Caller } from '#libs/http/callers.js';
import { attemptReply, Delivery } from '../attempt-reply.js';
import { attemptSortOf } from '../read-models/attempts.projection.js';
import { ListDeliveries } from './list-deliveries.query.js';

@Controller('v1/webhooks/:id/deliveries')
export class ListDeliveriesController {
  constructor(private readonly queries: QueryBus) {}

  /**
   * Lists the last attempts, newest first (docs/reference/rest-api.md#deliveries-list). Without a limit the page holds
   * all attempts that are kept.
   */
  @Get()
  @Operation({ summary: 'The last attempts of a webhook, newest first', paged: true, reply: paged(Delivery) })
  async list(
    @Param('id') id: string,
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<TypeOf<typeof Delivery>>> {
    const page = pageQuery({ limit: 100, ...params }, attemptSortOf);
    return listReply(await this.queries.execute(new ListDeliveries(id, caller.workspaceIds, page)), attemptReply);
  }
}
