import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, Min } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { type Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { integerFromText } from '#libs/http/from-text.js';
import { Meaning } from '#libs/http/meaning.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { oneWarned } from '#libs/http/replies.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Warned } from '#libs/kernel/warning.js';
import { IgnoreHookErrorsDto } from '../beside.dto.js';
import { ShownWorkflows } from '../shown-workflows.js';
import { LocateWorkflow } from '../workflow-in-path.js';
import { Workflow, type WorkflowReply } from '../workflow-reply.js';
import { RollBackWorkflow } from './roll-back-workflow.handler.js';

class RollBackWorkflowDto extends IgnoreHookErrorsDto {
  @Meaning('Number of the version to deploy again; required')
  @IsOptional()
  @Transform(integerFromText)
  @IsInt()
  @Min(1)
  version?: number;
}

@Controller('v1/workflows/:id/rollback')
export class RollBackWorkflowController {
  constructor(
    private readonly commands: CommandBus,
    private readonly workflows: LocateWorkflow,
    private readonly shown: ShownWorkflows,
  ) {}

  @Post()
  @Operation({
    summary: 'Deploy a former version of a workflow again',
    body: RollBackWorkflowDto,
    reply: oneWarned(Workflow),
    refusals: [409, 422],
  })
  @HttpCode(200)
  async rollBack(
    @Param('id') w: string,
    @Params('body_wins', RollBackWorkflowDto) body: RollBackWorkflowDto,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<Warned<WorkflowReply>>> {
    const { version, ignore_hook_errors: ignore = false } = body;
    // Before what is missing, because nobody else learns that there is such a workflow.
    const { workflowId, workspaceId } = await this.workflows.locate(w, caller);
    if (version === undefined) throw noVersion();
    const command = new RollBackWorkflow(workflowId, version, ignore, contextIn(workspaceId));
    return this.shown.changed(await this.commands.execute(command));
  }
}

const noVersion = (): DomainError =>
  new DomainError(
    'request.missing_parameter',
    'parameter version is required: the number of the version to deploy again',
    {
      field: 'version',
    },
  );
