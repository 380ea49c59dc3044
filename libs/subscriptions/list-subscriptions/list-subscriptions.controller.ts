import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { list } from '#libs/http/replies.js';
import { memberOf, ownedBy } from '#libs/http/workspace.js';
import { type Caller } from '#libs/http/callers.js';
import { Subscription, subscriptionReply, type SubscriptionReply } from '../subscription-reply.js';
import { ListSubscriptions } from './list-subscriptions.query.js';

type SubscriptionsReply = { data: readonly SubscriptionReply[] };

/** Lists all subscriptions at once, without `page_info` (docs/reference/rest-api.md#subscription-lists). */
@Controller('v1')
export class ListSubscriptionsController {
  constructor(private readonly queries: QueryBus) {}

  @Get('users/me/subscriptions')
  @Operation({ summary: 'Subscriptions of the user', reply: list(Subscription) })
  async ofUser(@CurrentCaller() caller: Caller): Promise<SubscriptionsReply> {
    const docs = await this.queries.execute(new ListSubscriptions(ownedBy(caller)));
    return { data: docs.map(subscriptionReply) };
  }

  @Get(['workspaces/:workspaceId/subscriptions', 'orgs/:workspaceId/subscriptions'])
  @Operation({ summary: 'Subscriptions of a workspace', reply: list(Subscription) })
  async ofWorkspace(
    @Param('workspaceId') workspaceId: string,
    @CurrentCaller() caller: Caller,
  ): Promise<SubscriptionsReply> {
    const docs = await this.queries.execute(new ListSubscriptions({ workspaceId: memberOf(caller, workspaceId) }));
    return { data: docs.map(subscriptionReply) };
  }
}
