import { Controller, Get, Inject, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { listReply, pageQuery, type ListReply } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { paged } from '#libs/http/replies.js';
import { memberOf, ownedBy } from '#libs/http/workspace.js';
import { type Caller } from '#libs/http/callers.js';
import { type EndpointUrls } from '../domain/endpoint-urls.js';
import { ENDPOINT_URLS } from '../ports.js';
import { Source, sourceReply, type SourceReply } from '../source-reply.js';
import { ListSources, type SourceOwner } from './list-sources.query.js';
import { creationSortOf } from '#libs/kernel/ids.js';

@Controller('v1')
export class ListSourcesController {
  constructor(
    private readonly queries: QueryBus,
    @Inject(ENDPOINT_URLS) private readonly urls: EndpointUrls,
  ) {}

  @Get('users/me/sources')
  @Operation({ summary: 'Sources of the user, newest first', paged: true, reply: paged(Source) })
  mine(@Params('body_wins') params: Parameters, @CurrentCaller() caller: Caller): Promise<ListReply<SourceReply>> {
    return this.list(ownedBy(caller), params);
  }

  @Get(['orgs/:id/sources', 'workspaces/:id/sources'])
  @Operation({ summary: 'Sources of a workspace, newest first', paged: true, reply: paged(Source) })
  ofWorkspace(
    @Param('id') id: string,
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<SourceReply>> {
    return this.list({ workspaceId: memberOf(caller, id) }, params);
  }

  private async list(owner: SourceOwner, params: Parameters): Promise<ListReply<SourceReply>> {
    const page = pageQuery(params, creationSortOf('dc'));
    const found = await this.queries.execute(new ListSources(owner, page));
    return listReply(found, (doc) => sourceReply(doc.state.source, doc.revision, doc.workspaceId, this.urls));
  }
}
