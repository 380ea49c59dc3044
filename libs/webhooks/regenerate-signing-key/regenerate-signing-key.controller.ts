import { Controller, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { one } from '#libs/http/replies.js';
import { type TypeOf } from '#libs/http/reply-schema.js';
import { epochSeconds } from '#libs/kernel/clock.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type Caller } from '#libs/http/callers.js';
import { findWebhook } from '../find-webhook.js';
import { RekeyedWebhook, webhookReply } from '../webhook-reply.js';
import { RegenerateSigningKey } from './regenerate-signing-key.handler.js';

@Controller('v1/webhooks')
export class RegenerateSigningKeyController {
  constructor(
    private readonly commands: CommandBus,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
  ) {}

  /** Only this reply shows the new key. Deliveries carry the signatures of both keys until the former one expires. */
  @Post(':id/regenerate_signing_key')
  @Operation({ summary: 'Make a new signing key; the former stays valid for a while', reply: one(RekeyedWebhook) })
  @HttpCode(200)
  async regenerate(
    @Param('id') id: string,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<{ data: TypeOf<typeof RekeyedWebhook> }>> {
    const { workspaceId } = await findWebhook(this.readModels, caller.workspaceIds, id);
    const command = new RegenerateSigningKey(id, contextIn(workspaceId));
    const { webhook, revision, signingKey, formerValidUntil, position } = await this.commands.execute(command);
    const former_key_valid_until = epochSeconds(formerValidUntil);
    const data = { ...webhookReply({ ...webhook, revision }), signing_key: signingKey, former_key_valid_until };
    return new Changed(position, { data });
  }
}
