import { type EventDoc } from './read-models/event-summaries.projection.js';
import { epochMsOf } from './domain/event-id.js';
import { truncateEvent } from './domain/truncate-event.js';

/** decisions.md 1.8 */
const MAX_EVENT_BYTES = 1024;

/** rest-api.md, "Event summary"; `truncated` only when the event was shortened. */
export interface EventSummary {
  readonly id: string;
  readonly indexed_at_ms: number;
  readonly event: unknown;
  readonly metadata: {
    readonly emit_id: string;
    readonly name: string;
    readonly emitter_id: string;
    readonly id?: unknown;
    readonly summary?: string;
    readonly ts?: number;
  };
  readonly truncated?: true;
}

export const eventSummary = (doc: EventDoc, expand: boolean): EventSummary => {
  const payload: unknown = JSON.parse(doc.payload);
  const { value, truncated } = expand ? { value: payload, truncated: false } : truncateEvent(payload, MAX_EVENT_BYTES);
  return {
    id: doc.eventId,
    indexed_at_ms: epochMsOf(doc.eventId),
    event: value,
    metadata: {
      emit_id: doc.emitId,
      name: doc.channel,
      emitter_id: doc.emitterId,
      ...(doc.dedupe === undefined ? {} : { id: JSON.parse(doc.dedupe) as unknown }),
      ...(doc.summary === undefined ? {} : { summary: doc.summary }),
      ...(doc.ts === undefined ? {} : { ts: Number(doc.ts) }),
    },
    ...(truncated ? { truncated: true } : {}),
  };
};
