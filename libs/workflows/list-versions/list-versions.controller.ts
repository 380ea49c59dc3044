import { Controller, Get, Inject, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { listReply, type ListReply, pageQuery } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { one, paged } from '#libs/http/replies.js';
import { findVersion } from '../find-version.js';
import { GetWorkflow } from '../get-workflow/get-workflow.query.js';
import { pageOf } from '../page-in-memory.js';
import { WORKFLOW_VERSIONS, type WorkflowVersions } from '../ports.js';
import { ShownWorkflows } from '../shown-workflows.js';
import {
  ListedVersion,
  listedVersionReply,
  type ListedVersionReply,
  shownDefinition,
  WholeVersion,
  type WholeVersionReply,
} from '../workflow-reply.js';

/** docs/reference/workflows.md#version-routes */
@Controller('v1/workflows/:id/versions')
export class ListVersionsController {
  constructor(
    private readonly queries: QueryBus,
    private readonly shown: ShownWorkflows,
    @Inject(WORKFLOW_VERSIONS) private readonly workflows: WorkflowVersions,
  ) {}

  @Get()
  @Operation({ summary: 'Versions of a workflow, newest first', paged: true, reply: paged(ListedVersion) })
  async list(
    @Param('id') w: string,
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<ListedVersionReply>> {
    const { id } = await this.queries.execute(new GetWorkflow(w, caller));
    return listReply(pageOf(this.workflows.versions(id), pageQuery(params)), listedVersionReply);
  }

  @Get(':version')
  @Operation({ summary: 'A version of a workflow, with its definition', reply: one(WholeVersion) })
  async one(
    @Param('id') w: string,
    @Param('version') number: string,
    @CurrentCaller() caller: Caller,
  ): Promise<{ data: WholeVersionReply }> {
    const { id, workflow } = await this.queries.execute(new GetWorkflow(w, caller));
    const entry = findVersion(this.workflows, id, number);
    const { definition } = await this.shown.version(entry.versionHash);
    return { data: { ...listedVersionReply(entry), definition: shownDefinition(workflow, definition) } };
  }
}
