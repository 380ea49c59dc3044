import { Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { one } from '#libs/http/replies.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { type Caller } from '#libs/http/callers.js';
import { Subscription, subscriptionReply, type SubscriptionReply } from '../subscription-reply.js';
import { TripleDto, tripleOf } from '../triple.dto.js';
import { CreateSubscription } from './create-subscription.handler.js';

@Controller('v1/subscriptions')
export class CreateSubscriptionController {
  constructor(private readonly commands: CommandBus) {}

  /** Idempotent. The same triple returns the existing subscription. */
  @Post()
  @Operation({ summary: 'Subscribe a listener to an emitter', query: TripleDto, reply: one(Subscription) })
  @HttpCode(200)
  async create(
    @Params('query_wins', TripleDto) triple: TripleDto,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<{ data: SubscriptionReply }>> {
    const context = contextIn(workspaceOf(caller));
    const { subscription, position } = await this.commands.execute(new CreateSubscription(tripleOf(triple), context));
    return new Changed(position, () => ({ data: subscriptionReply(subscription) }));
  }
}
