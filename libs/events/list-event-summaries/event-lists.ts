import { Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { pageLimit, type WarnedList } from '#libs/http/pages.js';
import { describe, type Parameters } from '#libs/http/parameters.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Warning } from '#libs/kernel/warning.js';
import { sortableEventId } from '#libs/stream-log/event-ids.js';
import {
  eventRecord,
  type EventRecord,
  eventSummary,
  type EventSummary,
  type ListedEvent,
  type Shown,
} from '../event-summary.js';
import { ListEventSummaries } from './list-event-summaries.query.js';

/** Lists of events as the routes of sources and workflows answer them. The caller has checked who may read them. */
@Injectable()
export class EventLists {
  constructor(private readonly queries: QueryBus) {}

  page(emitterId: string, channel: string, params: Parameters): Promise<WarnedList<EventSummary>> {
    return this.read(emitterId, channel, params, { expand: params['expand'] === 'event', e: false }, eventSummary);
  }

  /** Lists the events with the whole event beside the shown one. */
  records(emitterId: string, channel: string, params: Parameters): Promise<WarnedList<EventRecord>> {
    return this.read(emitterId, channel, params, { expand: params['expand'] === 'event', e: true }, eventRecord);
  }

  private async read<T>(
    emitterId: string,
    channel: string,
    params: Parameters,
    shown: Shown,
    render: (event: ListedEvent) => T,
  ): Promise<WarnedList<T>> {
    const after = cursorOf(params, 'after');
    const before = cursorOf(params, 'before');
    const page = {
      limit: pageLimit(params),
      ...(after === undefined ? {} : { after }),
      ...(before === undefined ? {} : { before }),
    };
    const { events, total } = await this.queries.execute(new ListEventSummaries(emitterId, channel, page, shown));
    return {
      page_info: {
        total_count: total,
        count: events.length,
        // Cursors of events are the ids themselves (docs/reference/rest-api.md#event-cursors).
        start_cursor: events[0]?.doc.eventId ?? null,
        end_cursor: events.at(-1)?.doc.eventId ?? null,
      },
      data: events.map(render),
      ...expandWarnings(params['expand']),
    };
  }
}

/** Throws request.invalid_parameter for a channel that is not one text. */
export const channelOf = (params: Parameters): string => textOf(params, 'event_name') ?? '';

export const expandWarnings = (given: unknown): { readonly warnings?: readonly Warning[] } => {
  if (given === undefined || given === null || given === '' || given === 'event') return {};
  const message = `expand is ignored, because it is ${JSON.stringify(describe(given))}; the only value is event`;
  return { warnings: [{ code: 'unknown_value', message, path: 'expand' }] };
};

export const textOf = (params: Parameters, field: string): string | undefined => {
  const given = params[field];
  if (given === undefined || given === null) return undefined;
  if (typeof given === 'string') return given;
  throw invalidParameter(field, given, 'must be one text');
};

/** @param text what the parameter must be, such as "must be 1 or 0" */
export const invalidParameter = (field: string, given: unknown, text: string): DomainError => {
  const actual = describe(given);
  const message = `parameter ${field} ${text}; got ${String(actual)}`;
  return new DomainError('request.invalid_parameter', message, { field, actual });
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
