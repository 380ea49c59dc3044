import { Controller, Get, Param } from '@nestjs/common';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { type WarnedList } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { pagedWarned } from '#libs/http/replies.js';
import { memberOf } from '#libs/http/workspace.js';
import { PLATFORM_CHANNEL } from '#libs/component-model/channels.js';
import { EventSummaryReply, type EventSummary } from '../event-summary.js';
import { EventLists } from './event-lists.js';

@Controller(['v1/workspaces/:id', 'v1/orgs/:id'])
export class ListPlatformEventsController {
  constructor(private readonly lists: EventLists) {}

  /** See docs/reference/rest-api.md#platform-events. */
  @Get(`${PLATFORM_CHANNEL}/event_summaries`)
  @Operation({
    summary: 'What the platform did to resources of a workspace, newest first',
    paged: true,
    reply: pagedWarned(EventSummaryReply),
    also: { expand: 'event: without truncation; a page of large events ends early, count tells' },
  })
  events(
    @Param('id') id: string,
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<WarnedList<EventSummary>> {
    return this.lists.page(memberOf(caller, id), PLATFORM_CHANNEL, params);
  }
}
