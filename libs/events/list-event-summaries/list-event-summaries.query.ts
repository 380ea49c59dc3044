import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type Page, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { retainedPage } from '#libs/stream-log/retained-page.js';
import { EVENT_SETTINGS, type EventSettings } from '../ports.js';
import { type EventDoc, eventDocId, eventSummaries, listOf } from '../read-models/event-summaries.projection.js';

/** Events of one channel, newest first. `after` and `before` are event ids. */
export class ListEventSummaries extends Query<Page<EventDoc>> {
  constructor(
    readonly emitterId: string,
    readonly channel: string,
    readonly page: { readonly limit: number; readonly after?: string; readonly before?: string },
  ) {
    super();
  }
}

@QueryHandler(ListEventSummaries)
export class ListEventSummariesHandler implements IQueryHandler<ListEventSummaries> {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(EVENT_SETTINGS) private readonly settings: EventSettings,
  ) {}

  execute({ emitterId, channel, page }: ListEventSummaries): Promise<Page<EventDoc>> {
    const where = { list: listOf(emitterId, channel) };
    const cursor = (id: string): string => eventDocId(emitterId, channel, id);
    const query = {
      where,
      limit: page.limit,
      ...(page.after === undefined ? {} : { after: cursor(page.after) }),
      ...(page.before === undefined ? {} : { before: cursor(page.before) }),
    };
    return retainedPage<EventDoc>(this.readModels, eventSummaries, query, this.settings.retained);
  }
}
