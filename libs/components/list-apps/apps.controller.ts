import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { Operation } from '#libs/http/operation.js';
import { listReply, type ListReply, pageQuery } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { one, paged } from '#libs/http/replies.js';
import { named, text, type TypeOf } from '#libs/http/reply-schema.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { GetApp, ListApps, type SeenApp } from './apps.query.js';

/** App as in docs/reference/rest-api.md#apps. */
const App = named('App', {
  id: text('`app_…`'),
  name_slug: text('Slug of the app, as components name it'),
  name: text('The slug, because components name nothing else'),
});
type AppReply = TypeOf<typeof App>;

const appReply = ({ id, slug }: SeenApp): AppReply => ({ id, name_slug: slug, name: slug });

const also = { q: 'Part of the slug: only apps with it' };

@Controller('v1/apps')
export class AppsController {
  constructor(private readonly queries: QueryBus) {}

  @Get()
  @Operation({ summary: 'Apps that components name, by slug', paged: true, also, reply: paged(App) })
  async list(@Params('query_wins') params: Parameters, @CurrentCaller() caller: Caller): Promise<ListReply<AppReply>> {
    const { q } = params;
    if (q !== undefined && q !== null && typeof q !== 'string')
      throw new DomainError('request.invalid_parameter', 'parameter q must be one text', { field: 'q' });
    return listReply(
      await this.queries.execute(new ListApps(workspaceOf(caller), q ?? '', pageQuery(params))),
      appReply,
    );
  }

  @Get(':idOrSlug')
  @Operation({ summary: 'An app, by id or by slug', reply: one(App) })
  async get(@Param('idOrSlug') idOrSlug: string, @CurrentCaller() caller: Caller): Promise<{ data: AppReply }> {
    return { data: appReply(await this.queries.execute(new GetApp(idOrSlug, workspaceOf(caller)))) };
  }
}
