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
import { type SourceDoc } from '../read-models/sources.projection.js';
import { ListedSource, type ListedSourceReply, Source, sourceReply, type SourceReply } from '../source-reply.js';
import { ListSources } from './list-sources.query.js';
import { SelectedSources } from './selected-sources.js';
import { SourceFilterDto } from './source-filter.dto.js';
import { creationSortOf } from '#libs/kernel/ids.js';

@Controller('v1')
export class ListSourcesController {
  constructor(
    private readonly queries: QueryBus,
    private readonly selected: SelectedSources,
    @Inject(ENDPOINT_URLS) private readonly urls: EndpointUrls,
  ) {}

  @Get('users/me/sources')
  @Operation({ summary: 'Sources of the user, newest first', paged: true, reply: paged(Source) })
  async mine(
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<SourceReply>> {
    const query = new ListSources(ownedBy(caller), pageQuery(params, creationSortOf('dc')));
    return listReply(await this.queries.execute(query), (doc) => this.shown(doc));
  }

  @Get(['orgs/:id/sources', 'workspaces/:id/sources'])
  @Operation({
    summary: 'Sources of a workspace, newest first',
    query: SourceFilterDto,
    paged: true,
    reply: paged(ListedSource),
  })
  async ofWorkspace(
    @Param('id') id: string,
    @Params('body_wins', SourceFilterDto) filter: SourceFilterDto,
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<ListedSourceReply>> {
    const workspaceId = memberOf(caller, id);
    const { q, active, state, sort = 'created' } = filter;
    const isWhole = q === undefined && active === undefined && state === undefined && sort === 'created';
    const page = pageQuery(params, creationSortOf('dc'));
    const found = isWhole
      ? await this.queries.execute(new ListSources({ workspaceId }, page))
      : await this.selected.page(workspaceId, filter, page);
    if (filter.include_stats !== true) return listReply(found, (doc) => this.shown(doc));
    const ids = found.docs.map((doc) => doc.id);
    const stats = await this.selected.stats(ids);
    const byId = new Map(ids.map((sourceId, i) => [sourceId, stats[i]]));
    return listReply(found, (doc) => {
      const own = byId.get(doc.id);
      return { ...this.shown(doc), ...(own ? { stats: own } : {}) };
    });
  }

  private shown({ state, revision, workspaceId }: SourceDoc): SourceReply {
    return sourceReply(state.source, revision, workspaceId, this.urls);
  }
}
