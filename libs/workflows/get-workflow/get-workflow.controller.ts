import { Controller, Get, Param, UseInterceptors } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { one } from '#libs/http/replies.js';
import { workflowNotFound } from '../domain/workflow.js';
import { ShownWorkflows } from '../shown-workflows.js';
import { Workflow, type WorkflowReply } from '../workflow-reply.js';
import { DefinitionAsYaml } from './definition-as-yaml.interceptor.js';
import { GetWorkflow } from './get-workflow.query.js';

@Controller('v1/workflows')
export class GetWorkflowController {
  constructor(
    private readonly queries: QueryBus,
    private readonly shown: ShownWorkflows,
  ) {}

  @Get(':id')
  @UseInterceptors(DefinitionAsYaml)
  @Operation({
    summary: 'A workflow, by id or by `ext:` and its external id',
    also: { format: '`yaml` answers with the definition alone, as `text/yaml`' },
    reply: one(Workflow),
  })
  async get(@Param('id') w: string, @CurrentCaller() caller: Caller): Promise<{ data: WorkflowReply }> {
    const doc = await this.queries.execute(new GetWorkflow(w, caller));
    const { deployed } = doc.workflow;
    if (deployed === null) throw workflowNotFound(w);
    return { data: await this.shown.read(doc, deployed.versionHash) };
  }
}
