import { Controller, Delete, HttpCode, Inject, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type Caller } from '#libs/http/callers.js';
import { findWebhook } from '../find-webhook.js';
import { DeleteWebhook } from './delete-webhook.handler.js';

@Controller('v1/webhooks')
export class DeleteWebhookController {
  constructor(
    private readonly commands: CommandBus,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
  ) {}

  @Delete(':id')
  @Operation({ summary: 'Delete a webhook with its subscriptions' })
  @HttpCode(204)
  async remove(
    @Param('id') id: string,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed> {
    const { workspaceId } = await findWebhook(this.readModels, caller.workspaceIds, id);
    const { position } = await this.commands.execute(new DeleteWebhook(id, contextIn(workspaceId)));
    return new Changed(position);
  }
}
