import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { type Caller } from '#libs/http/callers.js';
import { RedeliverDelivery } from './redeliver-delivery.handler.js';

@Controller('v1/webhooks/:id/deliveries')
export class RedeliverDeliveryController {
  constructor(private readonly commands: CommandBus) {}

  /** Answers once the delivery is queued. Its outcome appears in the list of deliveries. */
  @Post(':deliveryId/redeliver')
  @Operation({ summary: 'Send a delivery again' })
  @HttpCode(200)
  async redeliver(
    @Param('id') id: string,
    @Param('deliveryId') deliveryId: string,
    @CurrentCaller() caller: Caller,
  ): Promise<{ data: { id: string; queued: true } }> {
    await this.commands.execute(new RedeliverDelivery(id, deliveryId, caller.workspaceIds));
    return { data: { id: deliveryId, queued: true } };
  }
}
