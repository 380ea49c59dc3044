import { RawJson } from '#libs/http/raw-json.js';
import { epochMsOf } from './domain/event-id.js';
import { type EventDoc } from './read-models/event-summaries.projection.js';

/** Event of a list, with the JSON text to show. */
export interface ListedEvent {
  readonly doc: EventDoc;
  readonly event: string;
  readonly truncated: boolean;
}

/** Event summary as in docs/reference/rest-api.md#event-summary-fields. `truncated` is set only on a shortened event. */
export interface EventSummary {
  readonly id: string;
  readonly indexed_at_ms: number;
  readonly event: RawJson;
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

export const eventSummary = ({ doc, event, truncated }: ListedEvent): EventSummary => {
  return {
    id: doc.eventId,
    indexed_at_ms: epochMsOf(doc.eventId),
    event: new RawJson(event),
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
