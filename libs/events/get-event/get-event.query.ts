import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { DELAYED_CHANNEL } from '#libs/component-model/channels.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type DelayedEvents } from '#libs/stream-log/delayed-events.js';
import { DELAYED_EVENTS } from '#libs/stream-log/tokens.js';
import { type ListedEvent } from '../event-summary.js';
import { delayedDoc } from '../list-event-summaries/delayed-page.js';
import { type EventDoc, eventDocId, eventSummaries } from '../read-models/event-summaries.projection.js';

/** Reads one kept event whole, or one that waits. Resolves with undefined for an event that is not kept. */
export class GetEvent extends Query<ListedEvent | undefined> {
  /** @param eventId a valid event id. */
  constructor(
    readonly emitterId: string,
    readonly channel: string,
    readonly eventId: string,
  ) {
    super();
  }
}

@QueryHandler(GetEvent)
export class GetEventHandler implements IQueryHandler<GetEvent> {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(DELAYED_EVENTS) private readonly delayed: Pick<DelayedEvents, 'find'>,
  ) {}

  async execute({ emitterId, channel, eventId }: GetEvent): Promise<ListedEvent | undefined> {
    if (channel === DELAYED_CHANNEL) {
      const waiting = await this.delayed.find(emitterId, eventId);
      return waiting && { doc: delayedDoc(waiting), event: waiting.payload, truncated: false };
    }
    const doc = await this.readModels.get<EventDoc>(eventSummaries, eventDocId(emitterId, channel, eventId));
    if (!doc) return undefined;
    // The text may be removed between the two reads.
    const event = doc.payloadBytes === 0 ? doc.short : await this.readModels.text(eventSummaries, doc.id);
    return event === undefined ? undefined : { doc, event, truncated: false };
  }
}
