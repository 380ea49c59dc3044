import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { one } from '#libs/http/replies.js';
import { named, oneOf, text, type TypeOf } from '#libs/http/reply-schema.js';
import { type Caller } from '#libs/http/callers.js';
import { RedeliverDelivery } from './redeliver-delivery.handler.js';

/** See docs/reference/rest-api.md#redeliver. */
const Redelivery = named('Redelivery', { id: text('`dlv_…`'), queued: oneOf([true], 'It is on its way again') });

@Controller('v1/webhooks/:id/deliveries')
export class RedeliverDeliveryController {
  constructor(private readonly commands: CommandBus) {}

  /** Answers once the delivery is queued. Its outcome appears in the list of deliveries. */
  @Post(':deliveryId/redeliver')
  @Operation({ summary: 'Send a delivery again', reply: one(Redelivery) })
  @HttpCode(200)
  async redeliver(
    @Param('id') id: string,
    @Param('deliveryId') deliveryId: string,
    @CurrentCaller() caller: Caller,
  ): Promise<{ data: TypeOf<typeof Redelivery> }> {
    await this.commands.execute(new RedeliverDelivery(id, deliveryId, caller.workspaceIds));
    return { data: { id: deliveryId, queued: true } };
  }
}
