import { Controller, Delete, HttpCode } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { AutoSubscriptionDto } from '../auto-subscription-reply.js';
import { DeleteAutoSubscription } from './delete-auto-subscription.handler.js';

@Controller('v1/auto_subscriptions')
export class DeleteAutoSubscriptionController {
  constructor(private readonly commands: CommandBus) {}

  /** Subscriptions that it made stay. */
  @Delete()
  @Operation({ summary: 'Delete an auto-subscription', query: AutoSubscriptionDto })
  @HttpCode(204)
  async remove(
    @Params('query_wins', AutoSubscriptionDto) { event_name, listener_id }: AutoSubscriptionDto,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed> {
    const contexts = caller.workspaceIds.map(contextIn);
    const command = new DeleteAutoSubscription(event_name ?? '', listener_id, contexts);
    return new Changed((await this.commands.execute(command)).position);
  }
}
