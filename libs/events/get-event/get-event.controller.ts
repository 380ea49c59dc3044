import { Controller, Get, Inject, Param, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { type Response } from 'express';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { describe, type Parameters, Params } from '#libs/http/parameters.js';
import { RawJson } from '#libs/http/raw-json.js';
import { one } from '#libs/http/replies.js';
import { anyJson } from '#libs/http/reply-schema.js';
import { type KnownSources, sourceInPath } from '#libs/http/source-in-path.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { sortableEventId } from '#libs/stream-log/event-ids.js';
import { type EventSummary, eventSummary, EventSummaryReply, type ListedEvent } from '../event-summary.js';
import { channelOf } from '../list-event-summaries/event-lists.js';
import { EMITTERS } from '../ports.js';
import { GetEvent } from './get-event.query.js';

const CHANNEL = 'Channel of the event; the default one without it';

/** One kept event (docs/reference/rest-api.md#event-get). */
@Controller('v1/sources/:id/events/:eventId')
export class GetEventController {
  constructor(
    private readonly queries: QueryBus,
    @Inject(EMITTERS) private readonly emitters: KnownSources,
  ) {}

  @Get()
  @Operation({
    summary: 'An event of a source, whole',
    whole: true,
    reply: one(EventSummaryReply),
    also: { event_name: CHANNEL },
  })
  async event(
    @Param('id') id: string,
    @Param('eventId') eventId: string,
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<{ readonly data: EventSummary }> {
    return { data: eventSummary(await this.found(id, eventId, params, caller)) };
  }

  /** Answers with the JSON text as it was emitted (docs/reference/rest-api.md#event-payload). */
  @Get('payload')
  @Operation({
    summary: 'The payload of an event as a file, with its exact JSON text',
    whole: true,
    reply: anyJson<RawJson>('The payload, any JSON'),
    also: { event_name: CHANNEL },
  })
  async payload(
    @Param('id') id: string,
    @Param('eventId') eventId: string,
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<RawJson> {
    const { doc, event } = await this.found(id, eventId, params, caller);
    response.set('Content-Disposition', `attachment; filename="${doc.eventId}.json"`);
    return new RawJson(event);
  }

  private async found(id: string, eventId: string, params: Parameters, caller: Caller): Promise<ListedEvent> {
    const { sourceId } = sourceInPath(this.emitters, id, caller);
    const channel = channelOf(params);
    // What is no event id names no event either.
    const isId = sortableEventId(eventId) !== undefined;
    const found = isId ? await this.queries.execute(new GetEvent(sourceId, channel, eventId)) : undefined;
    if (found) return found;
    const shown = String(describe(eventId));
    const where = channel === '' ? 'the default channel' : `channel ${String(describe(channel))}`;
    throw new DomainError(
      'event.not_found',
      `no event ${shown} is kept of ${where} of source ${sourceId}; event_name names another channel`,
      { id: shown, event_name: describe(channel) },
    );
  }
}
