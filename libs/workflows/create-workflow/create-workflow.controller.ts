import { Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { type Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { oneWarned } from '#libs/http/replies.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { DocumentBody, type GivenDocument } from '#libs/http/yaml-text.js';
import { type Warned } from '#libs/kernel/warning.js';
import { BesideDto } from '../beside.dto.js';
import { DefinitionChecks } from '../definition-checks.js';
import { ShownWorkflows } from '../shown-workflows.js';
import { Workflow, type WorkflowReply } from '../workflow-reply.js';
import { CreateWorkflow } from './create-workflow.handler.js';

@Controller('v1/workflows')
export class CreateWorkflowController {
  constructor(
    private readonly commands: CommandBus,
    private readonly checks: DefinitionChecks,
    private readonly shown: ShownWorkflows,
  ) {}

  @Post()
  @Operation({
    summary: 'Create a workflow, and deploy it',
    query: BesideDto,
    document: 'A definition, which `GET /v1/workflows/schema.json` describes',
    reply: oneWarned(Workflow),
  })
  @HttpCode(200)
  async create(
    @Params('body_wins', BesideDto) beside: BesideDto,
    @DocumentBody() given: GivenDocument,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<Warned<WorkflowReply>>> {
    const context = contextIn(workspaceOf(caller));
    const definition = await this.checks.read(given, context.workspaceId);
    const saved = await this.commands.execute(new CreateWorkflow(given, definition, beside, context));
    return this.shown.changed(saved);
  }
}
