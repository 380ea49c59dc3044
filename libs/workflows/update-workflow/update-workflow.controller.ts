import { Controller, HttpCode, Param, Put } from '@nestjs/common';
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
import { externalIdIn } from '#libs/http/workflow-in-path.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Warned } from '#libs/kernel/warning.js';
import { BesideDto } from '../beside.dto.js';
import { CreateWorkflow } from '../create-workflow/create-workflow.handler.js';
import { DefinitionChecks } from '../definition-checks.js';
import { type JsonObject } from '../domain/check-shape.js';
import { workflowNotFound } from '../domain/workflow.js';
import { type SavedWorkflow } from '../saved-workflow.js';
import { ShownWorkflows } from '../shown-workflows.js';
import { LocateWorkflow } from '../workflow-in-path.js';
import { Workflow, type WorkflowReply } from '../workflow-reply.js';
import { UpdateWorkflow } from './update-workflow.handler.js';

interface PutRequest {
  readonly w: string;
  readonly beside: BesideDto;
  readonly given: GivenDocument;
  readonly definition: JsonObject;
}

@Controller('v1/workflows')
export class UpdateWorkflowController {
  constructor(
    private readonly commands: CommandBus,
    private readonly checks: DefinitionChecks,
    private readonly workflows: LocateWorkflow,
    private readonly shown: ShownWorkflows,
  ) {}

  @Put(':id')
  @Operation({
    summary: 'Change a workflow, or replace its definition and deploy it',
    query: BesideDto,
    document: 'With `steps` a definition; else the fields to change',
    reply: oneWarned(Workflow),
  })
  @HttpCode(200)
  async update(
    @Param('id') w: string,
    @Params('body_wins', BesideDto) beside: BesideDto,
    @DocumentBody() given: GivenDocument,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<Warned<WorkflowReply>>> {
    const { workspaceId } = (await this.workflows.find(w, caller)) ?? { workspaceId: undefined };
    const definition = await this.checks.read(given, workspaceId ?? workspaceOf(caller));
    const saved = await this.save({ w, beside, given, definition }, contextIn, caller);
    return this.shown.changed(saved);
  }

  /** Tries again when another request creates the same external id meanwhile. */
  private async save(put: PutRequest, contextIn: ContextIn, caller: Caller): Promise<SavedWorkflow> {
    const { w, beside, given, definition } = put;
    for (let round = 1; ; round++) {
      const located = await this.workflows.find(w, caller);
      if (located) {
        const context = contextIn(located.workspaceId);
        return this.commands.execute(new UpdateWorkflow(located.workflowId, given, definition, beside, context));
      }
      const externalId = externalIdIn(w);
      if (externalId === undefined || !Object.hasOwn(definition, 'steps')) throw workflowNotFound(w);
      const named = { external_id: externalId, ...definition };
      if (named.external_id !== externalId) throw otherExternalId(externalId);
      try {
        return await this.commands.execute(new CreateWorkflow(given, named, beside, contextIn(workspaceOf(caller))));
      } catch (error) {
        if (!isOvertaken(error) || round === ROUNDS) throw error;
      }
    }
  }
}

const ROUNDS = 3;

const isOvertaken = (error: unknown): boolean =>
  error instanceof DomainError && ['workflow.busy', 'workflow.external_id_taken'].includes(error.code);

const otherExternalId = (externalId: string): DomainError =>
  new DomainError(
    'request.invalid_parameter',
    `external_id of a new workflow must be that of the path, ${externalId}, or be left out`,
    { field: 'external_id', expected: externalId },
  );
