import { Controller, Get, Inject, Param } from '@nestjs/common';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { type WarnedList } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { pagedWarned } from '#libs/http/replies.js';
import { ERRORS_CHANNEL, LOGS_CHANNEL } from '#libs/component-model/channels.js';
import { type Caller } from '#libs/http/callers.js';
import { EventSummaryReply, type EventSummary } from '../event-summary.js';
import { workspaceOfEmitter } from '../find-emitter.js';
import { EMITTERS, type Emitters } from '../ports.js';
import { channelOf, EventLists } from './event-lists.js';

@Controller('v1/sources/:id')
export class ListEventSummariesController {
  constructor(
    private readonly lists: EventLists,
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
    return this.list(id, channelOf(params), params, caller);
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
    return this.list(id, channelOf(params), { ...params, limit: params['n'] ?? params['limit'] }, caller);
  }

  private list(id: string, channel: string, params: Parameters, caller: Caller): Promise<WarnedList<EventSummary>> {
    workspaceOfEmitter(this.emitters, caller.workspaceIds, 'source', id);
    return this.lists.page(id, channel, params);
  }
}
