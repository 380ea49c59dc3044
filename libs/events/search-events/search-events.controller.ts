import { Controller, Get, Inject, Param, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { type Response } from 'express';
import { DELAYED_CHANNEL } from '#libs/component-model/channels.js';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { momentsIn } from '#libs/http/moment.js';
import { Operation } from '#libs/http/operation.js';
import { pageLimit } from '#libs/http/pages.js';
import { describe, type Parameters, Params } from '#libs/http/parameters.js';
import { withWarnings } from '#libs/http/replies.js';
import { integer, listOf, nullable, object, text, type TypeOf } from '#libs/http/reply-schema.js';
import { memberOf } from '#libs/http/workspace.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { shownId } from '#libs/kernel/ids.js';
import { eventSummary, EventSummaryReply } from '../event-summary.js';
import { expandWarnings, textOf } from '../list-event-summaries/event-lists.js';
import { WholeEvents } from '../list-event-summaries/whole-events.js';
import { EMITTERS, type KnownEmitters } from '../ports.js';
import { cursorOf, cursorOfPlace, placeOf } from './search-place.js';
import { type FoundEvents, SearchEvents, type WantedEvents } from './search-events.query.js';
import { SearchTurns } from './search-turns.js';

const CURSOR = 'Cursor of the';
/** See docs/reference/rest-api.md#event-search. */
const Reply = object({
  page_info: object(
    {
      count: integer('Number of events on this page'),
      start_cursor: nullable(text(`${CURSOR} first event, null on an empty page`)),
      end_cursor: nullable(text(`${CURSOR} last event, null on an empty page`)),
      searched_to: nullable(text(`${CURSOR} place up to which was searched, for \`after\`; null at the end`)),
    },
    'Of this page',
  ),
  data: listOf(EventSummaryReply, 'The events found, newest first'),
  ...withWarnings,
});

const MOST_CHARS = 200;
/** Any channel but those of the platform. */
const EVERY = '*';
const TIME = 'epoch seconds or milliseconds, or an ISO 8601 time';

@Controller('v1')
export class SearchEventsController {
  private readonly turns = new SearchTurns();

  constructor(
    private readonly queries: QueryBus,
    private readonly whole: WholeEvents,
    @Inject(EMITTERS) private readonly emitters: Pick<KnownEmitters, 'find'>,
  ) {}

  @Get(['workspaces/:id/event_summaries', 'orgs/:id/event_summaries'])
  @Operation({
    summary: 'Events of all sources and workflows of a workspace, newest first, as far as one request searches',
    reply: Reply,
    also: {
      q: 'Part of the summary, an id, or the first 64 KB of the payload, in any case',
      emitter_id: 'Source or workflow; the workspace for events of the platform',
      event_name: "Channel, the default one without it; *: all but the platform's",
      invocation_id: 'Run of a source that emitted them',
      since: `Time of the oldest event: ${TIME}`,
      until: `Time of the newest event: ${TIME}`,
      expand: 'event: without truncation; a page of large events ends early',
      limit: 'Page size, from 1 to 100, 10 by default',
      after: 'Cursor: events behind it, searched_to to go on',
    },
  })
  async search(
    @Param('id') id: string,
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TypeOf<typeof Reply>> {
    const wanted = this.wantedIn(memberOf(caller, id), params);
    const after = textOf(params, 'after');
    const page = { limit: pageLimit(params), after: after ? placeOf(after) : undefined };
    // A reader that leaves ends the search.
    const left = new AbortController();
    response.once('close', () => left.abort());
    const query = new SearchEvents(wanted, page, left.signal);
    const search = (): Promise<FoundEvents> => this.queries.execute(query);
    const isSearch = wanted.text !== undefined || wanted.invocationId !== undefined;
    const found = await (isSearch ? this.turns.run(caller.userId, wanted.workspaceId, search) : search());
    return this.reply(found, params['expand']);
  }

  private async reply({ docs, searchedTo }: FoundEvents, expand: unknown): Promise<TypeOf<typeof Reply>> {
    const events =
      expand === 'event'
        ? await this.whole.of(docs, { expand: true, e: false })
        : docs.map((doc) => ({ doc, event: doc.short, truncated: doc.payloadBytes > 0 }));
    const cursors = [events[0], events.at(-1)].map((event) => (event === undefined ? null : cursorOf(event.doc)));
    const [start = null, end = null] = cursors;
    const lastFound = docs.at(-1);
    // A page of large events ends before the last one that was found.
    const isCut = end !== null && lastFound !== undefined && end !== cursorOf(lastFound);
    return {
      page_info: {
        count: events.length,
        start_cursor: start,
        end_cursor: end,
        searched_to: isCut ? end : searchedTo && cursorOfPlace(searchedTo),
      },
      data: events.map(eventSummary),
      ...expandWarnings(expand),
    };
  }

  private wantedIn(workspaceId: string, params: Parameters): WantedEvents {
    const { since, until } = momentsIn(params);
    const channel = textOf(params, 'event_name') ?? '';
    if (channel === DELAYED_CHANNEL) throw notHere(channel);
    return {
      workspaceId,
      emitterId: this.emitterIn(workspaceId, params),
      channel: channel === EVERY ? undefined : channel,
      invocationId: shortText(params, 'invocation_id'),
      text: shortText(params, 'q'),
      since,
      until,
    };
  }

  /** Throws emitter.not_found for an emitter of another workspace. */
  private emitterIn(workspaceId: string, params: Parameters): string | undefined {
    const given = shortText(params, 'emitter_id');
    if (given === undefined || given === workspaceId) return given;
    if (this.emitters.find(given)?.workspaceId === workspaceId) return given;
    const shown = shownId(given);
    const message = `there is no source or workflow ${shown} in workspace ${workspaceId}`;
    throw new DomainError('emitter.not_found', message, { field: 'emitter_id', actual: shown });
  }
}

/** Undefined for an absent or empty text. Throws request.invalid_parameter. */
const shortText = (params: Parameters, field: string): string | undefined => {
  const given = textOf(params, field) ?? '';
  if (given.length <= MOST_CHARS) return given === '' ? undefined : given;
  const message = `parameter ${field} must have at most ${MOST_CHARS} characters; got ${given.length}`;
  throw new DomainError('request.invalid_parameter', message, { field, limit: MOST_CHARS, actual: given.length });
};

const notHere = (channel: string): DomainError =>
  new DomainError(
    'request.invalid_parameter',
    `parameter event_name must be a channel of events that went out; got ${channel}, which GET /v1/sources/{id}/event_summaries lists`,
    { field: 'event_name', actual: describe(channel) },
  );
