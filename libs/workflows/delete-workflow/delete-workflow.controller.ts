import { Controller, Delete, HttpCode, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { IgnoreHookErrorsDto } from '../beside.dto.js';
import { LocateWorkflow } from '../workflow-in-path.js';
import { DeleteWorkflow } from './delete-workflow.handler.js';

@Controller('v1/workflows')
export class DeleteWorkflowController {
  constructor(
    private readonly commands: CommandBus,
    private readonly workflows: LocateWorkflow,
  ) {}

  @Delete(':id')
  @Operation({
    summary: 'Delete a workflow with its versions and sources',
    refusals: [422],
    query: IgnoreHookErrorsDto,
  })
  @HttpCode(204)
  async delete(
    @Param('id') w: string,
    @Params('body_wins', IgnoreHookErrorsDto) { ignore_hook_errors: ignore = false }: IgnoreHookErrorsDto,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed> {
    const { workflowId, workspaceId } = await this.workflows.locate(w, caller);
    const { position } = await this.commands.execute(new DeleteWorkflow(workflowId, ignore, contextIn(workspaceId)));
    return new Changed(position);
  }
}
