import { Controller, Delete, HttpCode, Inject, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { findDataStore } from '../find-data-store.js';
import { DeleteDataStore } from './delete-data-store.handler.js';

@Controller('v1/data_stores')
export class DeleteDataStoreController {
  constructor(
    private readonly commands: CommandBus,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
  ) {}

  @Delete(':id')
  @Operation({ summary: 'Delete a data store with its records' })
  @HttpCode(204)
  async remove(
    @Param('id') id: string,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed> {
    const { workspaceId } = await findDataStore(this.readModels, caller.workspaceIds, id);
    const { position } = await this.commands.execute(new DeleteDataStore(id, contextIn(workspaceId)));
    return new Changed(position);
  }
}
