import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { DELAYED_CHANNEL } from '#libs/component-model/channels.js';
import { type DelayedEvents } from '#libs/stream-log/delayed-events.js';
import { DELAYED_EVENTS } from '#libs/stream-log/tokens.js';
import { sortableEventId } from '#libs/stream-log/event-ids.js';
import { retainedPage } from '#libs/stream-log/retained-page.js';
import { type ListedEvent, type Shown } from '../event-summary.js';
import { EVENT_SETTINGS, type EventSettings } from '../ports.js';
import { delayedPage } from './delayed-page.js';
import { type EventDoc, eventDocId, eventSummaries, listOf } from '../read-models/event-summaries.projection.js';
import { WholeEvents } from './whole-events.js';

export interface EventsPage {
  readonly events: readonly ListedEvent[];
  /** Number of all events of the channel, regardless of the page. */
  readonly total: number;
}

/**
 * Lists the events of one channel, newest first. `after` and `before` are event ids. A page with whole events ends early
 * when the next event exceeds its bytes; one event alone always fits.
 */
export class ListEventSummaries extends Query<EventsPage> {
  constructor(
    readonly emitterId: string,
    readonly channel: string,
    readonly page: { readonly limit: number; readonly after?: string; readonly before?: string },
    readonly shown: Shown,
  ) {
    super();
  }
}

@QueryHandler(ListEventSummaries)
export class ListEventSummariesHandler implements IQueryHandler<ListEventSummaries> {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(DELAYED_EVENTS) private readonly delayed: DelayedEvents,
    @Inject(EVENT_SETTINGS) private readonly settings: EventSettings,
    private readonly wholeEvents: WholeEvents,
  ) {}

  async execute({ emitterId, channel, page, shown }: ListEventSummaries): Promise<EventsPage> {
    if (channel === DELAYED_CHANNEL) {
      const { pageBytes } = this.settings;
      return delayedPage(this.delayed, emitterId, { ...page, shown, pageBytes });
    }
    const where = { list: listOf(emitterId, channel) };
    const cursor = (id: string): string => eventDocId(emitterId, channel, id);
    const query = {
      where,
      limit: page.limit,
      ...(page.after === undefined ? {} : { after: cursor(page.after) }),
      ...(page.before === undefined ? {} : { before: cursor(page.before) }),
      // Events leave the list continuously, but an id determines its place.
      sortOf: (id: string) => sortableEventId(id.slice(id.lastIndexOf('/') + 1)),
    };
    const { docs, total } = await retainedPage<EventDoc>(
      this.readModels,
      eventSummaries,
      query,
      this.settings.retained,
    );
    if (!shown.expand && !shown.e) {
      return { events: docs.map((doc) => ({ doc, event: doc.short, truncated: doc.payloadBytes > 0 })), total };
    }
    // A page requested upwards is filled from its lower end, so the next page continues above it.
    const upwards = page.before !== undefined && page.after === undefined;
    const events = await this.wholeEvents.of(upwards ? [...docs].reverse() : docs, shown);
    return { events: upwards ? [...events].reverse() : events, total };
  }
}
