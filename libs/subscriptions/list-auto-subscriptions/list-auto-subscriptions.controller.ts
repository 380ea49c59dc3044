import { Controller, Get } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { list } from '#libs/http/replies.js';
import { ownedBy } from '#libs/http/workspace.js';
import { AutoSubscription, autoSubscriptionReply, type AutoSubscriptionReply } from '../auto-subscription-reply.js';
import { ListAutoSubscriptions } from './list-auto-subscriptions.query.js';

@Controller('v1/users/me/auto_subscriptions')
export class ListAutoSubscriptionsController {
  constructor(private readonly queries: QueryBus) {}

  @Get()
  @Operation({ summary: 'Auto-subscriptions of the user', reply: list(AutoSubscription) })
  async ofUser(@CurrentCaller() caller: Caller): Promise<{ data: readonly AutoSubscriptionReply[] }> {
    const docs = await this.queries.execute(new ListAutoSubscriptions(ownedBy(caller)));
    return { data: docs.map(autoSubscriptionReply) };
  }
}
