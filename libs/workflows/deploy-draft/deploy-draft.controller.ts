import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { type Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { oneWarned } from '#libs/http/replies.js';
import { type Warned } from '#libs/kernel/warning.js';
import { IgnoreHookErrorsDto } from '../beside.dto.js';
import { ShownWorkflows } from '../shown-workflows.js';
import { LocateWorkflow } from '../workflow-in-path.js';
import { Workflow, type WorkflowReply } from '../workflow-reply.js';
import { DeployDraft } from './deploy-draft.handler.js';

@Controller('v1/workflows/:id/deploy')
export class DeployDraftController {
  constructor(
    private readonly commands: CommandBus,
    private readonly workflows: LocateWorkflow,
    private readonly shown: ShownWorkflows,
  ) {}

  @Post()
  @Operation({
    summary: 'Deploy the draft of a workflow',
    body: IgnoreHookErrorsDto,
    reply: oneWarned(Workflow),
    refusals: [409, 422],
  })
  @HttpCode(200)
  async deploy(
    @Param('id') w: string,
    @Params('body_wins', IgnoreHookErrorsDto) { ignore_hook_errors: ignore = false }: IgnoreHookErrorsDto,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<Warned<WorkflowReply>>> {
    const { workflowId, workspaceId } = await this.workflows.locate(w, caller);
    return this.shown.changed(await this.commands.execute(new DeployDraft(workflowId, ignore, contextIn(workspaceId))));
  }
}
