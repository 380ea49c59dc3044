import { Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { oneWarned } from '#libs/http/replies.js';
import { type TypeOf } from '#libs/http/reply-schema.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { type Caller } from '#libs/http/callers.js';
import { type Warned, warned } from '#libs/kernel/warning.js';
import { DELIVERY_REACH, type DeliveryReach } from '../ports.js';
import { DEFAULT_RULES } from '../published.js';
import { givenRules, RulesDto } from '../rules.dto.js';
import { urlWarnings } from '../url-warnings.js';
import { CreatedWebhook, webhookReply } from '../webhook-reply.js';
import { CreateWebhook } from './create-webhook.handler.js';
import { Meaning } from '#libs/http/meaning.js';

class CreateWebhookDto extends RulesDto {
  @Meaning('Address that gets the events, http or https')
  @IsString()
  url!: string;

  @Meaning('Name for people')
  @IsOptional()
  @IsString()
  @MaxLength(255)
  name?: string | null;

  @Meaning('Text for people')
  @IsOptional()
  @IsString()
  @MaxLength(4096)
  description?: string | null;
}

@Controller('v1/webhooks')
export class CreateWebhookController {
  constructor(
    private readonly commands: CommandBus,
    @Inject(DELIVERY_REACH) private readonly reach: DeliveryReach,
  ) {}

  @Post()
  @Operation({
    summary: 'Create a webhook; the reply alone shows its signing key',
    query: CreateWebhookDto,
    reply: oneWarned(CreatedWebhook),
  })
  @HttpCode(200)
  async create(
    @Params('query_wins', CreateWebhookDto) dto: CreateWebhookDto,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<Warned<TypeOf<typeof CreatedWebhook>>>> {
    const context = contextIn(workspaceOf(caller));
    const { url, name, description } = dto;
    const rules = { ...DEFAULT_RULES, ...givenRules(dto) };
    const input = { url, name: name || null, description: description || null, rules };
    const { webhook, revision, signingKey, position } = await this.commands.execute(new CreateWebhook(input, context));
    const data = { ...webhookReply({ ...webhook, revision }), user_id: webhook.userId, signing_key: signingKey };
    return new Changed(position, warned(data, urlWarnings(webhook.url, this.reach)));
  }
}
