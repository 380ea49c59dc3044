import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { listReply, type ListReply, pageQuery } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { paged } from '#libs/http/replies.js';
import { integer, milliseconds, named, nullable, text, type TypeOf } from '#libs/http/reply-schema.js';
import { type Caller } from '#libs/http/callers.js';
import { type AttemptDoc, attemptSortOf } from '../read-models/attempts.projection.js';
import { ListDeliveries } from './list-deliveries.query.js';

/** Attempt as in docs/reference/rest-api.md#deliveries-list. */
const Delivery = named('Delivery', {
  id: text('`dlv_…`'),
  ts: milliseconds('Epoch milliseconds of the start of the attempt'),
  attempt: integer('1 for the first'),
  outcome: text('`success`, `retry` when another attempt follows, or `final`'),
  status: nullable(integer('Status of the answer, null without one')),
  ms: integer('Milliseconds that the attempt took'),
  error: nullable(text('What went wrong; null for a success')),
  next_attempt_at: nullable(milliseconds()),
  response: text("Start of the answer's body"),
  emit_id: text('Of the event: 27 characters, stable across retries'),
  event_id: text('`<epoch milliseconds>-<sequence>`'),
  emitter_id: text('The source'),
  event_name: text('Channel, empty for the default one'),
});

const attemptReply = (doc: AttemptDoc): TypeOf<typeof Delivery> => ({
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
