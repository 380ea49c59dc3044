import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { RawJson } from '#libs/http/raw-json.js';
import { one } from '#libs/http/replies.js';
import { anyJson, listOf, named, object, oneOf, text, type TypeOf } from '#libs/http/reply-schema.js';
import { attemptReply, Delivery } from '../attempt-reply.js';
import { GetDelivery } from './get-delivery.query.js';

/** See docs/reference/rest-api.md#delivery-get. */
const DeliveryWithAttempts = named('DeliveryWithAttempts', {
  id: text('`dlv_…`'),
  emitter_id: text('The source'),
  event_id: text('`<epoch milliseconds>-<sequence>`'),
  emit_id: text('Of the event: 27 characters'),
  event_name: text('Channel, empty for the default one'),
  attempts: listOf(Delivery, 'Those among the last attempts of the webhook, oldest first'),
  request: object(
    {
      method: oneOf(['POST'], 'Of every delivery'),
      url: text('Of the webhook, as it is now'),
      headers: anyJson<Readonly<Record<string, string>>>('By name, as of the last attempt; signatures are masked'),
    },
    'What the webhook is sent',
  ),
  body: anyJson<RawJson | null>('What is sent, any JSON; null when its event is no longer kept'),
});

const MASKED = '********';

@Controller('v1/webhooks/:id/deliveries')
export class GetDeliveryController {
  constructor(private readonly queries: QueryBus) {}

  @Get(':deliveryId')
  @Operation({
    summary: 'A delivery with its attempts and what is sent',
    whole: true,
    reply: one(DeliveryWithAttempts),
  })
  async get(
    @Param('id') id: string,
    @Param('deliveryId') deliveryId: string,
    @CurrentCaller() caller: Caller,
  ): Promise<{ data: TypeOf<typeof DeliveryWithAttempts> }> {
    const found = await this.queries.execute(new GetDelivery(id, deliveryId, caller.workspaceIds));
    const { last, attempts, url, headers, body } = found;
    return {
      data: {
        id: deliveryId,
        emitter_id: last.emitterId,
        event_id: last.eventId,
        emit_id: last.emitId,
        event_name: last.channel,
        attempts: attempts.map(attemptReply),
        request: {
          method: 'POST',
          url,
          headers: {
            'content-type': 'application/json',
            ...headers,
            'webhook-signature': MASKED,
            'x-pd-signature': MASKED,
          },
        },
        body: body === undefined ? null : new RawJson(body),
      },
    };
  }
}
