import { PLATFORM_CHANNELS } from '#libs/component-model/channels.js';
import { RawJson } from '#libs/http/raw-json.js';
import {
  anyJson,
  milliseconds,
  named,
  number,
  object,
  oneOf,
  optional,
  text,
  type TypeOf,
} from '#libs/http/reply-schema.js';
import { epochMsOf } from './domain/event-id.js';
import { type EventDoc } from './read-models/event-summaries.projection.js';

/** Event of a list, with the JSON text to show. */
export interface ListedEvent {
  readonly doc: Pick<
    EventDoc,
    'eventId' | 'emitId' | 'channel' | 'emitterId' | 'dedupe' | 'summary' | 'ts' | 'test' | 'invocation'
  > & {
    /** Epoch milliseconds at which an event that waits goes out. */
    readonly dueAt?: number;
  };
  readonly event: string;
  readonly truncated: boolean;
  /** The whole event, where a list of records shows `event` shortened. */
  readonly whole?: string;
}

/** Form of the events in a list. A list with whole events has pages of limited bytes. */
export interface Shown {
  /** `event` is whole instead of shortened. */
  readonly expand: boolean;
  /** The whole event is under `e` too. */
  readonly e: boolean;
}

/** Bytes that an event takes in a page, from those of both forms. */
export const bytesShown = ({ expand, e }: Shown, short: number, whole: number): number =>
  (expand ? whole : short) + (e ? whole : 0);

/** Fields as in docs/reference/rest-api.md#event-summary-fields. */
const SUMMARY = {
  id: text('`<epoch milliseconds>-<sequence>`'),
  indexed_at_ms: milliseconds('Epoch milliseconds, those of the id'),
  event: anyJson<RawJson>('The payload, any JSON; shortened unless `expand=event`'),
  metadata: object(
    {
      emit_id: text('27 characters, sortable by time'),
      name: text('Channel, empty for the default one'),
      emitter_id: text('The source or workflow; the workspace for an event of the platform'),
      invocation_id: optional(text('`inv_…`, the run or hook of a source that emitted it')),
      id: optional(anyJson('As given to `$emit`')),
      summary: optional(text('As given to `$emit`')),
      ts: optional(number('As given to `$emit`')),
      delivery_ts: optional(milliseconds('Only for an event that waits: when it goes out')),
      test: optional(oneOf([true], 'Only for a sample event')),
    },
    'What is known of the event beside its payload',
  ),
  truncated: optional(oneOf([true], 'Only when `event` is shortened')),
};

export const EventSummaryReply = named('EventSummary', SUMMARY);
export type EventSummary = TypeOf<typeof EventSummaryReply>;

/** As in docs/reference/rest-api.md#event-records. */
export const EventRecordReply = named('EventRecord', { ...SUMMARY, e: anyJson<RawJson>('The payload, whole') });
export type EventRecord = TypeOf<typeof EventRecordReply>;

/** Events of a workflow are shown within `raw_event`, as by the hosted service, but not its errors. */
const isEmittedByWorkflow = ({ emitterId, channel }: ListedEvent['doc']): boolean =>
  emitterId.startsWith('p_') && !PLATFORM_CHANNELS.has(channel);

export const eventSummary = ({ doc, event, truncated }: ListedEvent): EventSummary => {
  return {
    id: doc.eventId,
    indexed_at_ms: epochMsOf(doc.eventId),
    event: new RawJson(isEmittedByWorkflow(doc) ? `{"raw_event":${event}}` : event),
    metadata: {
      emit_id: doc.emitId,
      name: doc.channel,
      emitter_id: doc.emitterId,
      ...(doc.invocation === undefined ? {} : { invocation_id: doc.invocation }),
      ...(doc.dedupe === undefined ? {} : { id: JSON.parse(doc.dedupe) as unknown }),
      ...(doc.summary === undefined ? {} : { summary: doc.summary }),
      ...(doc.ts === undefined ? {} : { ts: Number(doc.ts) }),
      ...(doc.dueAt === undefined ? {} : { delivery_ts: doc.dueAt }),
      ...(doc.test === undefined ? {} : { test: true }),
    },
    ...(truncated ? { truncated: true } : {}),
  };
};

/** @param listed a list that was requested with whole events. */
export const eventRecord = (listed: ListedEvent): EventRecord => ({
  ...eventSummary(listed),
  e: new RawJson(listed.whole ?? listed.event),
});
