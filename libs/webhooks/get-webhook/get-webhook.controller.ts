import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { one } from '#libs/http/replies.js';
import { type Caller } from '#libs/http/callers.js';
import { Webhook, webhookReply, type WebhookReply } from '../webhook-reply.js';
import { GetWebhook } from './get-webhook.query.js';

@Controller('v1/webhooks')
export class GetWebhookController {
  constructor(private readonly queries: QueryBus) {}

  @Get(':id')
  @Operation({ summary: 'A webhook', reply: one(Webhook) })
  async get(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<{ data: WebhookReply }> {
    return { data: webhookReply(await this.queries.execute(new GetWebhook(id, caller.workspaceIds))) };
  }
}
