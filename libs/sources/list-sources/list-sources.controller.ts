import { Controller, Get, Inject, Param, Req } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { type Request } from 'express';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { listReply, pageQuery, type ListReply } from '#libs/http/pages.js';
import { parameters } from '#libs/http/parameters.js';
import { memberOf, ownedBy } from '#libs/http/workspace.js';
import { type Caller } from '#libs/http/callers.js';
import { sourceReply, type EndpointUrls, type SourceReply } from '../domain/source-view.js';
import { ENDPOINT_URLS } from '../ports.js';
import { ListSources, type SourceOwner } from './list-sources.query.js';

@Controller('v1')
export class ListSourcesController {
  constructor(
    @Inject(QueryBus) private readonly queries: QueryBus,
    @Inject(ENDPOINT_URLS) private readonly urls: EndpointUrls,
  ) {}

  @Get('users/me/sources')
  @Operation({ summary: 'Sources of the user, newest first', paged: true })
  mine(@Req() request: Request, @CurrentCaller() caller: Caller): Promise<ListReply<SourceReply>> {
    return this.list(ownedBy(caller), request);
  }

  @Get(['orgs/:id/sources', 'workspaces/:id/sources'])
  @Operation({ summary: 'Sources of a workspace, newest first', paged: true })
  ofWorkspace(
    @Param('id') id: string,
    @Req() request: Request,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<SourceReply>> {
    return this.list({ workspaceId: memberOf(caller, id) }, request);
  }

  private async list(owner: SourceOwner, request: Request): Promise<ListReply<SourceReply>> {
    const page = pageQuery(parameters(request, 'body_wins'));
    const found = await this.queries.execute(new ListSources(owner, page));
    return listReply(found, (doc) => sourceReply(doc.state.source, doc.workspaceId, this.urls));
  }
}
