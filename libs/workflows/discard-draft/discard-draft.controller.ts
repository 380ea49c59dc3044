import { Controller, Delete, HttpCode, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { LocateWorkflow } from '../workflow-in-path.js';
import { DiscardDraft } from './discard-draft.handler.js';

@Controller('v1/workflows/:id/draft')
export class DiscardDraftController {
  constructor(
    private readonly commands: CommandBus,
    private readonly workflows: LocateWorkflow,
  ) {}

  @Delete()
  @Operation({ summary: 'Discard the draft of a workflow' })
  @HttpCode(204)
  async discard(
    @Param('id') w: string,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed> {
    const { workflowId, workspaceId } = await this.workflows.locate(w, caller);
    const { position } = await this.commands.execute(new DiscardDraft(workflowId, contextIn(workspaceId)));
    return new Changed(position);
  }
}
