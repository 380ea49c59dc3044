import { Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Allow } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { oneWarned } from '#libs/http/replies.js';
import { warned, type Warned } from '#libs/kernel/warning.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { type Caller } from '#libs/http/callers.js';
import { Subscription, subscriptionReply, type SubscriptionReply } from '../subscription-reply.js';
import { channelWarnings } from '../channel-warnings.js';
import { checkedFilter } from '../filter.js';
import { TripleDto, tripleOf } from '../triple.dto.js';
import { CreateSubscription } from './create-subscription.handler.js';
import { Meaning } from '#libs/http/meaning.js';

class CreateSubscriptionDto extends TripleDto {
  @Meaning('Which events are passed on, as JSON; null for all')
  @Allow()
  filter?: unknown;
}

@Controller('v1/subscriptions')
export class CreateSubscriptionController {
  constructor(private readonly commands: CommandBus) {}

  /** Idempotent. The same triple returns the existing subscription. */
  @Post()
  @Operation({
    summary: 'Subscribe a listener to an emitter',
    query: TripleDto,
    also: { filter: 'Which events are passed on, as JSON; the body may hold it as an object' },
    reply: oneWarned(Subscription),
  })
  @HttpCode(200)
  async create(
    @Params('query_wins', CreateSubscriptionDto) triple: CreateSubscriptionDto,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<Warned<SubscriptionReply>>> {
    const context = contextIn(workspaceOf(caller));
    const filter = checkedFilter(triple.filter);
    const command = new CreateSubscription(tripleOf(triple), filter, context);
    const { subscription, position } = await this.commands.execute(command);
    return new Changed(position, warned(subscriptionReply(subscription), channelWarnings(subscription.eventName)));
  }
}
