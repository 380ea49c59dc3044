import { Controller, Get, Inject, Param } from '@nestjs/common';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { type WarnedList } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { pagedWarned } from '#libs/http/replies.js';
import { ERRORS_CHANNEL, LOGS_CHANNEL } from '#libs/component-model/channels.js';
import { type Caller } from '#libs/http/callers.js';
import { EventRecordReply, type EventRecord, EventSummaryReply, type EventSummary } from '../event-summary.js';
import { type KnownSources, sourceInPath } from '#libs/http/source-in-path.js';
import { EMITTERS } from '../ports.js';
import { channelOf, EventLists } from './event-lists.js';

@Controller('v1/sources/:id')
export class ListEventSummariesController {
  constructor(
    private readonly lists: EventLists,
    @Inject(EMITTERS) private readonly emitters: KnownSources,
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

  /** The same list at its former address, with whole events (docs/reference/rest-api.md#event-records). */
  @Get('events')
  @Operation({
    summary: 'Former address of event_summaries, with the whole event of each as e; a page of large events ends early',
    paged: true,
    whole: true,
    reply: pagedWarned(EventRecordReply),
    also: { n: 'Page size', event_name: 'Channel', expand: 'event: event is whole too' },
  })
  legacy(
    @Param('id') id: string,
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<WarnedList<EventRecord>> {
    const { sourceId } = sourceInPath(this.emitters, id, caller);
    return this.lists.records(sourceId, channelOf(params), { ...params, limit: params['n'] ?? params['limit'] });
  }

  private list(id: string, channel: string, params: Parameters, caller: Caller): Promise<WarnedList<EventSummary>> {
    return this.lists.page(sourceInPath(this.emitters, id, caller).sourceId, channel, params);
  }
}
