import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { IsOptional, IsString } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Meaning } from '#libs/http/meaning.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { one } from '#libs/http/replies.js';
import { type TypeOf } from '#libs/http/reply-schema.js';
import { TestDelivery } from '../attempt-reply.js';
import { TestWebhook } from './test-webhook.handler.js';

class TestWebhookDto {
  @Meaning('Channel that the test names; the default one by default')
  @IsOptional()
  @IsString()
  event_name?: string | null;
}

@Controller('v1/webhooks')
export class TestWebhookController {
  constructor(private readonly commands: CommandBus) {}

  /** See docs/reference/rest-api.md#webhook-test. */
  @Post(':id/test')
  @Operation({
    summary: 'Send one test to a webhook at once',
    body: TestWebhookDto,
    objects: { payload: 'What is sent, any JSON' },
    reply: one(TestDelivery),
  })
  @HttpCode(200)
  async test(
    @Param('id') id: string,
    @Params('body_wins', TestWebhookDto) { event_name }: TestWebhookDto,
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<{ data: TypeOf<typeof TestDelivery> }> {
    const command = new TestWebhook(id, caller.workspaceIds, event_name ?? '', params['payload']);
    return { data: await this.commands.execute(command) };
  }
}
