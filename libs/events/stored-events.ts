import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { checkEventId } from './domain/event-id.js';
import { type EventDoc, eventDocId, eventSummaries, listOf } from './read-models/event-summaries.projection.js';

/** Place of a kept event. */
export interface KeptEvent {
  readonly eventId: string;
  readonly emitId: string;
  /** JSON text exactly as emitted. */
  readonly payload: string;
}

const PAGE = 100;

/** Payloads of retained events, for sending an event again. */
export const storedEvents = (readModels: ReadModelStore) => {
  const payloadOf = async (emitterId: string, channel: string, eventId: string): Promise<string | undefined> => {
    const doc = await readModels.get<EventDoc>(eventSummaries, eventDocId(emitterId, channel, eventId));
    if (!doc || doc.payloadBytes === 0) return doc?.short;
    return readModels.text(eventSummaries, doc.id);
  };

  /** Ids from `startId` to `endId`, both included, oldest first. */
  const idsIn = async (
    emitterId: string,
    channel: string,
    startId?: string,
    endId?: string,
  ): Promise<readonly Omit<KeptEvent, 'payload'>[]> => {
    const from = startId === undefined ? '' : checkEventId(startId, 'start_id');
    const to = endId === undefined ? '~' : checkEventId(endId, 'end_id');
    const where = { list: listOf(emitterId, channel) };
    const newestFirst: Omit<KeptEvent, 'payload'>[] = [];
    for (let after: string | undefined; ;) {
      const query = { where, limit: PAGE, withTotal: false, ...(after === undefined ? {} : { after }) };
      const { docs } = await readModels.page<EventDoc>(eventSummaries, query);
      for (const { sort, eventId, emitId } of docs)
        if (sort >= from && sort <= to) newestFirst.push({ eventId, emitId });
      const last = docs.at(-1);
      if (last === undefined || docs.length < PAGE || last.sort < from) return newestFirst.reverse();
      after = last.id;
    }
  };

  return {
    /** Undefined when the event is no longer retained. */
    payloadOf,
    idsIn,
    /** Like `idsIn`, with the payloads. An event that is removed during the read is left out. */
    async *eventsIn(emitterId: string, channel: string, startId: string, endId: string): AsyncGenerator<KeptEvent> {
      for (const event of await idsIn(emitterId, channel, startId, endId)) {
        const payload = await payloadOf(emitterId, channel, event.eventId);
        if (payload !== undefined) yield { ...event, payload };
      }
    },
  };
};
