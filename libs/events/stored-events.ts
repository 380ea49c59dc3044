import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type EventDoc, eventDocId, eventSummaries } from './read-models/event-summaries.projection.js';

/** Payloads of retained events, for sending an event again. */
export const storedEvents = (readModels: ReadModelStore) => ({
  /** Returns the JSON text exactly as emitted; undefined when the event is no longer retained. */
  async payloadOf(emitterId: string, channel: string, eventId: string): Promise<string | undefined> {
    const doc = await readModels.get<EventDoc>(eventSummaries, eventDocId(emitterId, channel, eventId));
    if (!doc || doc.payloadBytes === 0) return doc?.short;
    return readModels.text(eventSummaries, doc.id);
  },
});
