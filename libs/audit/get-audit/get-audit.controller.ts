import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { type ListReply, pageLimit } from '#libs/http/pages.js';
import { describe, type Parameters, Params } from '#libs/http/parameters.js';
import { paged } from '#libs/http/replies.js';
import { anyJson, anyOf, integer, named, nullable, object, text, type TypeOf } from '#libs/http/reply-schema.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type RecordedEvent } from '#libs/kernel/events.js';
import { type Caller } from '#libs/http/callers.js';
import { parseAt } from './at.js';
import { GetResourceAt } from './get-resource-at.query.js';
import { ListHistory } from './list-history.query.js';
import { masked } from './masked.js';

const DEFAULT_LIMIT = 100;

const isoTime = text('ISO 8601 in UTC');

/** See docs/reference/rest-api.md#audit-entry. */
const AuditEntry = named('AuditEntry', {
  revision: integer('0 for the first'),
  type: text('Such as `SourceDeployed`'),
  at: isoTime,
  actor: object(
    {
      user_id: text('`u_…`, or `system` for the server itself'),
      api_key_id: nullable(text('Null for the server itself')),
    },
    'Who caused the event',
  ),
  data: anyJson('Data of the event; secrets are masked'),
  position: text('Position in the event log'),
  request_id: text('`X-Request-Id` of the request that caused it'),
});

/** See docs/reference/rest-api.md#audit-at. */
const ResourceAt = named('ResourceAt', {
  data: anyJson('The resource as it was then; secrets are masked'),
  as_of: object({ revision: integer('Of the newest event that counts'), at: isoTime }, 'The moment that is shown'),
});

/** An extension: the full history of every resource, including deleted ones. */
@Controller('v1/audit')
export class GetAuditController {
  constructor(private readonly queries: QueryBus) {}

  /** Lists the history oldest first, paged by revision. With `at`, returns the resource as it was then. */
  @Get(':id')
  @Operation({
    summary: 'The events of a resource, oldest first; with `at`, the resource as it was then',
    paged: true,
    reply: anyOf(paged(AuditEntry), ResourceAt),
    also: { at: 'A revision, a time in epoch seconds or milliseconds, or an ISO 8601 time' },
  })
  async get(
    @Param('id') id: string,
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<TypeOf<typeof AuditEntry>> | TypeOf<typeof ResourceAt>> {
    if (params['at'] !== undefined) {
      const at = parseAt(params['at']);
      const { view, asOf } = await this.queries.execute(new GetResourceAt(id, caller.workspaceIds, at));
      return { data: masked(view), as_of: { revision: Number(asOf.revision), at: isoOf(asOf) } };
    }
    const { events, total } = await this.queries.execute(new ListHistory(id, caller.workspaceIds, pageOf(params)));
    return {
      page_info: {
        total_count: total,
        count: events.length,
        start_cursor: events[0]?.revision.toString() ?? null,
        end_cursor: events.at(-1)?.revision.toString() ?? null,
      },
      data: events.map(entryOf),
    };
  }
}

const entryOf = (event: RecordedEvent): TypeOf<typeof AuditEntry> => ({
  revision: Number(event.revision),
  type: event.type,
  at: isoOf(event),
  actor: { user_id: event.metadata.actor.userId, api_key_id: event.metadata.actor.apiKeyId },
  data: masked(event.data),
  position: event.position,
  request_id: event.metadata.$correlationId,
});

const isoOf = (event: RecordedEvent): string => new Date(event.recordedAt).toISOString();

const pageOf = (params: Parameters): { limit: number; after?: bigint; before?: bigint } => {
  const after = revisionOf(params, 'after');
  const before = revisionOf(params, 'before');
  return {
    limit: params['limit'] === undefined ? DEFAULT_LIMIT : pageLimit(params),
    ...(after === undefined ? {} : { after }),
    ...(before === undefined ? {} : { before }),
  };
};

const revisionOf = (params: Parameters, field: 'after' | 'before'): bigint | undefined => {
  const given = params[field];
  if (given === undefined || given === '') return undefined;
  if (typeof given === 'string' && /^\d{1,15}$/.test(given)) return BigInt(given);
  throw new DomainError(
    'request.invalid_cursor',
    `parameter ${field} must be a revision, as in page_info; got ${describe(given)}`,
    { field, actual: describe(given) },
  );
};
