import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type EventDoc, eventDocId, eventSummaries } from './read-models/event-summaries.projection.js';

/** Payloads of events that are still retained, for whoever sends one again. */
export const storedEvents = (readModels: ReadModelStore) => ({
  /** JSON text, exactly as it was emitted; undefined when it is gone. */
  async payloadOf(emitterId: string, channel: string, eventId: string): Promise<string | undefined> {
    const doc = await readModels.get<EventDoc>(eventSummaries, eventDocId(emitterId, channel, eventId));
    if (!doc || doc.payloadBytes === 0) return doc?.short;
    return readModels.text(eventSummaries, doc.id);
  },
});
