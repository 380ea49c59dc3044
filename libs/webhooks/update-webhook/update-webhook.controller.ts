import { Controller, HttpCode, Inject, Param, Put } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional, IsString, MaxLength } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { flagFromText } from '#libs/http/from-text.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { oneWarned } from '#libs/http/replies.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type Caller } from '#libs/http/callers.js';
import { type Warned, warned } from '#libs/kernel/warning.js';
import { findWebhook } from '../find-webhook.js';
import { DELIVERY_REACH, type DeliveryReach } from '../ports.js';
import { givenRules, RulesDto } from '../rules.dto.js';
import { urlWarnings } from '../url-warnings.js';
import { Webhook, webhookReply, type WebhookReply } from '../webhook-reply.js';
import { UpdateWebhook, type WebhookChanges } from './update-webhook.handler.js';
import { Meaning } from '#libs/http/meaning.js';

class UpdateWebhookDto extends RulesDto {
  @Meaning('Address that gets the events, http or https')
  @IsOptional()
  @IsString()
  url?: string | null;

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

  @Meaning('Whether events are delivered; while false they are dropped')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  active?: boolean | null;
}

@Controller('v1/webhooks')
export class UpdateWebhookController {
  constructor(
    private readonly commands: CommandBus,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(DELIVERY_REACH) private readonly reach: DeliveryReach,
  ) {}

  /** Keeps absent fields; null clears name and description. `active: true` also ends a disablement by the platform. */
  @Put(':id')
  @Operation({ summary: 'Change a webhook', body: UpdateWebhookDto, reply: oneWarned(Webhook) })
  @HttpCode(200)
  async update(
    @Param('id') id: string,
    @Params('query_wins', UpdateWebhookDto) dto: UpdateWebhookDto,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<Warned<WebhookReply>>> {
    const { workspaceId } = await findWebhook(this.readModels, caller.workspaceIds, id);
    const changes: WebhookChanges = {
      ...(dto.url === undefined || dto.url === null ? {} : { url: dto.url }),
      ...(dto.name === undefined ? {} : { name: dto.name || null }),
      ...(dto.description === undefined ? {} : { description: dto.description || null }),
      ...(dto.active === undefined || dto.active === null ? {} : { active: dto.active }),
      rules: givenRules(dto),
    };
    const command = new UpdateWebhook(id, changes, contextIn(workspaceId));
    const { webhook, revision, position } = await this.commands.execute(command);
    const warnings = changes.url === undefined ? [] : urlWarnings(webhook.url, this.reach);
    return new Changed(position, warned(webhookReply({ ...webhook, revision }), warnings));
  }
}
