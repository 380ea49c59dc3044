import { Controller, Get, Inject, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { RawJson } from '#libs/http/raw-json.js';
import { one } from '#libs/http/replies.js';
import { anyJson, recordOf } from '#libs/http/reply-schema.js';
import { mustBeWriter } from '#libs/http/writes.guard.js';
import { GetSource } from '../get-source/get-source.query.js';
import { SOURCE_DBS, type SourceDbs } from '../ports.js';

interface DbReply {
  readonly data: Readonly<Record<string, RawJson>>;
}

/** See docs/reference/rest-api.md#source-db. */
@Controller('v1/sources')
export class GetDbController {
  constructor(
    private readonly queries: QueryBus,
    @Inject(SOURCE_DBS) private readonly dbs: SourceDbs,
  ) {}

  @Get(':idOrSlug/db')
  @Operation({
    summary: 'What `$.service.db` of a source holds',
    whole: true,
    reply: one(recordOf(anyJson<RawJson>('The value, as the code set it'), 'Value by key')),
  })
  async get(@Param('idOrSlug') idOrSlug: string, @CurrentCaller() caller: Caller): Promise<DbReply> {
    const { id, workspaceId, state } = await this.queries.execute(new GetSource(idOrSlug, caller));
    // The code keeps tokens there.
    mustBeWriter(caller, workspaceId);
    const db = await this.dbs.of(id, workspaceId, state.source.definition);
    return { data: Object.fromEntries(Object.entries(db).map(([key, text]) => [key, new RawJson(text)])) };
  }
}
