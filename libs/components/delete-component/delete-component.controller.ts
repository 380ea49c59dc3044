import { Controller, Delete, HttpCode, Inject, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { findComponent } from '../get-component/find-component.js';
import { componentNotFound } from '../get-component/get-component.query.js';
import { REGISTRY_WORKSPACE } from '../registry/registry-entry.js';
import { DeleteComponent } from './delete-component.handler.js';

/** See docs/reference/rest-api.md#component-delete. */
@Controller('v1/components')
export class DeleteComponentController {
  constructor(
    private readonly commands: CommandBus,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
  ) {}

  @Delete(':keyOrId')
  @Operation({ summary: 'Delete a component that nothing uses', refusals: [409] })
  @HttpCode(204)
  async remove(
    @Param('keyOrId') keyOrId: string,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed> {
    const found = await findComponent(this.readModels, keyOrId, caller);
    // A component of the registry belongs to no workspace of a user.
    if (!found || found.doc.workspaceId === REGISTRY_WORKSPACE) throw componentNotFound(keyOrId);
    const { doc, workspaceId } = found;
    const position = await this.commands.execute(new DeleteComponent(doc.id, contextIn(workspaceId)));
    return new Changed(position);
  }
}
