import { Controller, Delete, HttpCode, Inject, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type Caller } from '#libs/http/callers.js';
import { findAccount } from '../find-account.js';
import { DisconnectAccount } from './disconnect-account.handler.js';

@Controller('v1/accounts')
export class DisconnectAccountController {
  constructor(
    private readonly commands: CommandBus,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
  ) {}

  @Delete(':id')
  @Operation({ summary: 'Disconnect an account and remove its credentials' })
  @HttpCode(204)
  async remove(
    @Param('id') id: string,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed> {
    const { workspaceId } = await findAccount(this.readModels, caller.workspaceIds, id);
    const { position } = await this.commands.execute(new DisconnectAccount(id, contextIn(workspaceId)));
    return new Changed(position);
  }
}
