import { Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { oneWarned } from '#libs/http/replies.js';
import { warned, type Warned } from '#libs/kernel/warning.js';
import { workspaceOf } from '#libs/http/workspace.js';
import {
  AutoSubscription,
  AutoSubscriptionDto,
  autoSubscriptionReply,
  type AutoSubscriptionReply,
} from '../auto-subscription-reply.js';
import { channelWarnings } from '../channel-warnings.js';
import { CreateAutoSubscription } from './create-auto-subscription.handler.js';

@Controller('v1/auto_subscriptions')
export class CreateAutoSubscriptionController {
  constructor(private readonly commands: CommandBus) {}

  /** Idempotent. The same channel and listener return the existing auto-subscription. */
  @Post()
  @Operation({
    summary: 'Subscribe a listener to a channel of every source made from now on',
    query: AutoSubscriptionDto,
    reply: oneWarned(AutoSubscription),
  })
  @HttpCode(200)
  async create(
    @Params('query_wins', AutoSubscriptionDto) { event_name, listener_id }: AutoSubscriptionDto,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<Warned<AutoSubscriptionReply>>> {
    const context = contextIn(workspaceOf(caller));
    const created = await this.commands.execute(new CreateAutoSubscription(event_name ?? '', listener_id, context));
    const { autoSubscription, position } = created;
    return new Changed(position, warned(autoSubscriptionReply(autoSubscription), channelWarnings(event_name ?? '')));
  }
}
