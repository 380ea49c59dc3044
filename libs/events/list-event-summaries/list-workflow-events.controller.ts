import { Controller, Get, Inject, Param } from '@nestjs/common';
import { ERRORS_CHANNEL } from '#libs/component-model/channels.js';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { type WarnedList } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { pagedWarned } from '#libs/http/replies.js';
import { EventSummaryReply, type EventSummary } from '../event-summary.js';
import { workflowInPath } from '#libs/http/workflow-in-path.js';
import { EMITTERS, type KnownEmitters } from '../ports.js';
import { channelOf, EventLists } from './event-lists.js';

const EXPAND = 'event: without truncation; a page of large events ends early, count tells';

/** Events of workflows (docs/reference/rest-api.md#workflow-events). */
@Controller('v1/workflows/:id')
export class ListWorkflowEventsController {
  constructor(
    private readonly lists: EventLists,
    @Inject(EMITTERS) private readonly emitters: KnownEmitters,
  ) {}

  @Get('event_summaries')
  @Operation({
    summary: 'Events that a workflow emitted, newest first',
    paged: true,
    reply: pagedWarned(EventSummaryReply),
    also: { event_name: 'Channel', expand: EXPAND },
  })
  events(@Param('id') id: string, @Params('body_wins') params: Parameters, @CurrentCaller() caller: Caller) {
    return this.list(id, channelOf(params), params, caller);
  }

  @Get(`${ERRORS_CHANNEL}/event_summaries`)
  @Operation({
    summary: 'Errors of a workflow, newest first',
    paged: true,
    reply: pagedWarned(EventSummaryReply),
    also: { expand: EXPAND },
  })
  errors(@Param('id') id: string, @Params('body_wins') params: Parameters, @CurrentCaller() caller: Caller) {
    return this.list(id, ERRORS_CHANNEL, params, caller);
  }

  private list(id: string, channel: string, params: Parameters, caller: Caller): Promise<WarnedList<EventSummary>> {
    const [workflowId] = workflowInPath(this.emitters, id, caller);
    return this.lists.page(workflowId, channel, params);
  }
}
