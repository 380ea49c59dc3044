import { Controller, Get, Inject, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { pageLimit, type WarnedList } from '#libs/http/pages.js';
import { describe, type Parameters, Params } from '#libs/http/parameters.js';
import { pagedWarned } from '#libs/http/replies.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { ERRORS_CHANNEL, LOGS_CHANNEL } from '#libs/component-model/channels.js';
import { type Warning } from '#libs/kernel/warning.js';
import { type Caller } from '#libs/http/callers.js';
import { sortableEventId } from '#libs/stream-log/event-ids.js';
import { eventSummary, EventSummaryReply, type EventSummary } from '../event-summary.js';
import { workspaceOfSource } from '../find-emitter.js';
import { EMITTERS, type Emitters } from '../ports.js';
import { ListEventSummaries } from './list-event-summaries.query.js';

@Controller('v1/sources/:id')
export class ListEventSummariesController {
  constructor(
    private readonly queries: QueryBus,
    @Inject(EMITTERS) private readonly emitters: Emitters,
  ) {}

  /** Lists the default channel, or the one that event_name names (docs/reference/rest-api.md#event-channel-filter). */
  @Get('event_summaries')
  @Operation({
    summary: 'Events of a source, newest first',
    paged: true,
    reply: pagedWarned(EventSummaryReply),
    also: {
      event_name: 'Channel',
      expand: 'event: without truncation; a page of large events ends early, count tells',
    },
  })
  events(@Param('id') id: string, @Params('body_wins') params: Parameters, @CurrentCaller() caller: Caller) {
    return this.list(id, textOf(params, 'event_name') ?? '', params, caller);
  }

  @Get(`${ERRORS_CHANNEL}/event_summaries`)
  @Operation({
    summary: 'Errors of a source, newest first',
    paged: true,
    reply: pagedWarned(EventSummaryReply),
    also: { expand: 'event: without truncation; a page of large events ends early, count tells' },
  })
  errors(@Param('id') id: string, @Params('body_wins') params: Parameters, @CurrentCaller() caller: Caller) {
    return this.list(id, ERRORS_CHANNEL, params, caller);
  }

  @Get(`${LOGS_CHANNEL}/event_summaries`)
  @Operation({
    summary: 'Log lines of a source, newest first',
    paged: true,
    reply: pagedWarned(EventSummaryReply),
    also: { expand: 'event: without truncation; a page of large events ends early, count tells' },
  })
  logs(@Param('id') id: string, @Params('body_wins') params: Parameters, @CurrentCaller() caller: Caller) {
    return this.list(id, LOGS_CHANNEL, params, caller);
  }

  /** Serves the former address of the same list, whose limit is called n. */
  @Get('events')
  @Operation({
    summary: 'Former address of event_summaries',
    paged: true,
    reply: pagedWarned(EventSummaryReply),
    also: {
      n: 'Page size',
      event_name: 'Channel',
      expand: 'event: without truncation; a page of large events ends early, count tells',
    },
  })
  legacy(@Param('id') id: string, @Params('body_wins') params: Parameters, @CurrentCaller() caller: Caller) {
    return this.list(
      id,
      textOf(params, 'event_name') ?? '',
      { ...params, limit: params['n'] ?? params['limit'] },
      caller,
    );
  }

  private async list(
    id: string,
    channel: string,
    params: Parameters,
    caller: Caller,
  ): Promise<WarnedList<EventSummary>> {
    workspaceOfSource(this.emitters, caller.workspaceIds, id);
    const after = cursorOf(params, 'after');
    const before = cursorOf(params, 'before');
    const page = {
      limit: pageLimit(params),
      ...(after === undefined ? {} : { after }),
      ...(before === undefined ? {} : { before }),
    };
    const expand = params['expand'] === 'event';
    const { events, total } = await this.queries.execute(new ListEventSummaries(id, channel, page, expand));
    return {
      page_info: {
        total_count: total,
        count: events.length,
        // Cursors of events are the ids themselves (docs/reference/rest-api.md#event-cursors).
        start_cursor: events[0]?.doc.eventId ?? null,
        end_cursor: events.at(-1)?.doc.eventId ?? null,
      },
      data: events.map(eventSummary),
      ...expandWarnings(params['expand']),
    };
  }
}

const expandWarnings = (given: unknown): { readonly warnings?: readonly Warning[] } => {
  if (given === undefined || given === null || given === '' || given === 'event') return {};
  const message = `expand is ignored, because it is ${JSON.stringify(describe(given))}; the only value is event`;
  return { warnings: [{ code: 'unknown_value', message, path: 'expand' }] };
};

const textOf = (params: Parameters, field: string): string | undefined => {
  const given = params[field];
  if (given === undefined || given === null) return undefined;
  if (typeof given === 'string') return given;
  const actual = describe(given);
  const message = `parameter ${field} must be one text; got ${String(actual)}`;
  throw new DomainError('request.invalid_parameter', message, { field, actual });
};

const cursorOf = (params: Parameters, field: 'after' | 'before'): string | undefined => {
  const given = textOf(params, field);
  if (given === undefined || given === '') return undefined;
  if (sortableEventId(given) !== undefined) return given;
  throw new DomainError(
    'request.invalid_cursor',
    `parameter ${field} must be an event id such as 1700000000000-0; got ${String(describe(given))}`,
    { field, actual: describe(given) },
  );
};
