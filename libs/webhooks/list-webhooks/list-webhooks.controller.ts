import { Controller, Get } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { listReply, type ListReply, pageQuery } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { paged } from '#libs/http/replies.js';
import { ownedBy } from '#libs/http/workspace.js';
import { type Caller } from '#libs/http/callers.js';
import { Webhook, webhookReply, type WebhookReply } from '../webhook-reply.js';
import { ListWebhooks } from './list-webhooks.query.js';
import { creationSortOf } from '#libs/kernel/ids.js';

@Controller('v1/users/me/webhooks')
export class ListWebhooksController {
  constructor(private readonly queries: QueryBus) {}

  @Get()
  @Operation({ summary: 'Webhooks of the user, newest first', paged: true, reply: paged(Webhook) })
  async list(
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<WebhookReply>> {
    const page = { where: ownedBy(caller), ...pageQuery(params, creationSortOf('wh')) };
    return listReply(await this.queries.execute(new ListWebhooks(page)), webhookReply);
  }
}
