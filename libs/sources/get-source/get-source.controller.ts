import { Controller, Get, Inject, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { one } from '#libs/http/replies.js';
import { type Caller } from '#libs/http/callers.js';
import { type EndpointUrls } from '../domain/endpoint-urls.js';
import { ENDPOINT_URLS } from '../ports.js';
import { Source, sourceReply, type SourceReply } from '../source-reply.js';
import { GetSource } from './get-source.query.js';

@Controller('v1/sources')
export class GetSourceController {
  constructor(
    private readonly queries: QueryBus,
    @Inject(ENDPOINT_URLS) private readonly urls: EndpointUrls,
  ) {}

  @Get(':idOrSlug')
  @Operation({ summary: 'A source, by id or by name slug', reply: one(Source) })
  async get(@Param('idOrSlug') idOrSlug: string, @CurrentCaller() caller: Caller): Promise<{ data: SourceReply }> {
    const doc = await this.queries.execute(new GetSource(idOrSlug, caller));
    return { data: sourceReply(doc.state.source, doc.revision, doc.workspaceId, this.urls) };
  }
}
