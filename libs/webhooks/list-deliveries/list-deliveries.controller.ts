import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { listReply, type ListReply, pageQuery } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { type Caller } from '#libs/http/callers.js';
import { type AttemptDoc } from '../read-models/attempts.projection.js';
import { ListDeliveries } from './list-deliveries.query.js';

/** Attempt of a reply, with `ts` and `next_attempt_at` in epoch milliseconds. */
const attemptReply = (doc: AttemptDoc) => ({
  id: doc.deliveryId,
  ts: doc.ts,
  attempt: doc.attempt,
  outcome: doc.outcome,
  status: doc.status,
  ms: Math.round(doc.ms),
  error: doc.error,
  next_attempt_at: doc.nextAttemptAt,
  response: doc.responseSnippet,
  emit_id: doc.emitId,
  event_id: doc.eventId,
  emitter_id: doc.emitterId,
  event_name: doc.channel,
});

@Controller('v1/webhooks/:id/deliveries')
export class ListDeliveriesController {
  constructor(private readonly queries: QueryBus) {}

  /**
   * Lists the last attempts, newest first (docs/reference/rest-api.md#deliveries-list). Without a limit the page holds
   * all attempts that are kept.
   */
  @Get()
  @Operation({ summary: 'The last attempts of a webhook, newest first', paged: true })
  async list(
    @Param('id') id: string,
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<ReturnType<typeof attemptReply>>> {
    const page = pageQuery({ limit: 100, ...params });
    return listReply(await this.queries.execute(new ListDeliveries(id, caller.workspaceIds, page)), attemptReply);
  }
}
