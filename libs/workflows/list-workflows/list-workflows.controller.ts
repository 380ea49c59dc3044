import { Controller, Get, Inject, Param } from '@nestjs/common';
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
import { type Clock } from '#libs/kernel/clock.js';
import { creationSortOf } from '#libs/kernel/ids.js';
import { CLOCK } from '#libs/kernel/tokens.js';
import { WORKFLOW_STATS, type WorkflowStats } from '../ports.js';
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
  @Meaning('Whether each entry has `stats` of its runs')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  include_stats?: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1_000;

@Controller('v1')
export class ListWorkflowsController {
  constructor(
    private readonly queries: QueryBus,
    @Inject(WORKFLOW_STATS) private readonly stats: WorkflowStats,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get('workflows')
  @Operation({
    summary: 'Workflows of the caller’s workspaces, newest first',
    query: WorkflowFilterDto,
    paged: true,
    reply: paged(ListedWorkflow),
  })
  all(
    @Params('query_wins', WorkflowFilterDto) given: WorkflowFilterDto,
    @Params('query_wins') params: Parameters,
    @CurrentCaller() { workspaceIds }: Caller,
  ): Promise<ListReply<ListedWorkflowReply>> {
    const [only, ...others] = workspaceIds;
    const workspaceId = only !== undefined && others.length === 0 ? only : workspaceIds;
    return this.list(workspaceId, given, params);
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
    @Params('query_wins', WorkflowFilterDto) given: WorkflowFilterDto,
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<ListedWorkflowReply>> {
    return this.list(memberOf(caller, id), given, params);
  }

  private async list(
    workspaceId: WorkflowFilter['workspaceId'],
    { q, active, include_stats: withStats }: WorkflowFilterDto,
    params: Parameters,
  ): Promise<ListReply<ListedWorkflowReply>> {
    const page = pageQuery(params, creationSortOf('p'));
    const found = await this.queries.execute(new ListWorkflows({ workspaceId, q, active }, page));
    if (withStats !== true) return listReply(found, (doc) => listedWorkflowReply(doc));
    const ids = found.docs.map(({ id }) => id);
    const stats = await this.stats.of(ids, this.clock.now() - DAY_MS);
    const byId = new Map(ids.map((id, i) => [id, stats[i]]));
    return listReply(found, (doc) => listedWorkflowReply(doc, byId.get(doc.id)));
  }
}
