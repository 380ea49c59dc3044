import { Controller, Get, Param, UseInterceptors } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { flagFromText } from '#libs/http/from-text.js';
import { Meaning } from '#libs/http/meaning.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { one } from '#libs/http/replies.js';
import { ShownWorkflows } from '../shown-workflows.js';
import { Workflow, type WorkflowReply } from '../workflow-reply.js';
import { DefinitionAsYaml } from './definition-as-yaml.interceptor.js';
import { GetWorkflow } from './get-workflow.query.js';

class GetWorkflowDto {
  @Meaning('Whether the draft is shown, and not the version in force')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  draft?: boolean;
}

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
    query: GetWorkflowDto,
    also: { format: '`yaml` answers with the definition alone, as `text/yaml`' },
    reply: one(Workflow),
  })
  async get(
    @Param('id') w: string,
    @Params('body_wins', GetWorkflowDto) { draft }: GetWorkflowDto,
    @CurrentCaller() caller: Caller,
  ): Promise<{ data: WorkflowReply }> {
    return { data: await this.shown.read(await this.queries.execute(new GetWorkflow(w, caller)), draft) };
  }
}
