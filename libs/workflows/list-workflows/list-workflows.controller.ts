import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional, IsString, Length } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { flagFromText } from '#libs/http/from-text.js';
import { Meaning } from '#libs/http/meaning.js';
import { Operation } from '#libs/http/operation.js';
import { listReply, type ListReply, pageQuery } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { paged } from '#libs/http/replies.js';
import { memberOf } from '#libs/http/workspace.js';
import { creationSortOf } from '#libs/kernel/ids.js';
import { ListedWorkflow, listedWorkflowReply, type ListedWorkflowReply } from '../workflow-reply.js';
import { ListWorkflows, type WorkflowFilter } from './list-workflows.query.js';

class WorkflowFilterDto {
  @Meaning('Part of the name; case does not matter')
  @IsOptional()
  @IsString()
  @Length(1, 255)
  q?: string;
  @Meaning('Only active ones, or only others')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  active?: boolean;
}

@Controller('v1')
export class ListWorkflowsController {
  constructor(private readonly queries: QueryBus) {}

  @Get('workflows')
  @Operation({
    summary: 'Workflows of the caller’s workspaces, newest first',
    query: WorkflowFilterDto,
    paged: true,
    reply: paged(ListedWorkflow),
  })
  all(
    @Params('query_wins', WorkflowFilterDto) { q, active }: WorkflowFilterDto,
    @Params('query_wins') params: Parameters,
    @CurrentCaller() { workspaceIds }: Caller,
  ): Promise<ListReply<ListedWorkflowReply>> {
    const [only, ...others] = workspaceIds;
    const workspaceId = only !== undefined && others.length === 0 ? only : workspaceIds;
    return this.list({ workspaceId, q, active }, params);
  }

  @Get(['orgs/:id/workflows', 'workspaces/:id/workflows'])
  @Operation({
    summary: 'Workflows of a workspace, newest first',
    query: WorkflowFilterDto,
    paged: true,
    reply: paged(ListedWorkflow),
  })
  ofWorkspace(
    @Param('id') id: string,
    @Params('query_wins', WorkflowFilterDto) { q, active }: WorkflowFilterDto,
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<ListedWorkflowReply>> {
    return this.list({ workspaceId: memberOf(caller, id), q, active }, params);
  }

  private async list(filter: WorkflowFilter, params: Parameters): Promise<ListReply<ListedWorkflowReply>> {
    const found = await this.queries.execute(new ListWorkflows(filter, pageQuery(params, creationSortOf('p'))));
    return listReply(found, listedWorkflowReply);
  }
}
