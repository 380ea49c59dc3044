import { Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { oneWarned } from '#libs/http/replies.js';
import { named, oneOf } from '#libs/http/reply-schema.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { ReadsByPost } from '#libs/http/writes.guard.js';
import { DocumentBody, type GivenDocument } from '#libs/http/yaml-text.js';
import { warned, type Warned } from '#libs/kernel/warning.js';
import { ValidateWorkflowDto } from './validate-workflow.dto.js';
import { ValidateWorkflow } from './validate-workflow.handler.js';

const WorkflowCheck = named('WorkflowCheck', {
  valid: oneOf([true], 'A definition with errors is refused'),
});

/** Checks the definition of a workflow (docs/reference/workflows.md#validate). */
@Controller('v1/workflows')
export class ValidateWorkflowController {
  constructor(private readonly commands: CommandBus) {}

  @Post('validate')
  @ReadsByPost()
  @Operation({
    summary: 'Check the definition of a workflow',
    query: ValidateWorkflowDto,
    document: 'A definition, which `GET /v1/workflows/schema.json` describes',
    reply: oneWarned(WorkflowCheck),
  })
  @HttpCode(200)
  async validate(
    @Params('body_wins', ValidateWorkflowDto) { strict = false }: ValidateWorkflowDto,
    @DocumentBody() given: GivenDocument,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Warned<{ readonly valid: true }>> {
    const warnings = await this.commands.execute(new ValidateWorkflow(given, strict, contextIn(workspaceOf(caller))));
    return warned({ valid: true }, warnings);
  }
}
