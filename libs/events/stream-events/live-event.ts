import { eventSummary } from '../event-summary.js';
import { type EmitHeaders } from '#libs/stream-log/envelopes.js';
import { sortableEventId } from '#libs/stream-log/event-ids.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { jsonParts } from '#libs/http/raw-json.js';

/** An event on its way to open streams. */
export interface LiveEvent {
  readonly emitterId: string;
  readonly channel: string;
  /** Event id, and the same in fixed width, which orders the events of an emitter. */
  readonly id: string;
  readonly sort: string;
  /** The emitted value as one line of JSON. */
  readonly payload: string;
  /** The event summary with the whole event, as one line of JSON. */
  envelope(): string;
}

interface Emitted {
  readonly emitterId: string;
  readonly channel: string;
  readonly eventId: string;
  readonly emitId: string;
  readonly dedupe?: string;
  readonly summary?: string;
  readonly ts?: string;
  readonly test?: '1';
}

/** @param text JSON text of the value. */
export const liveEvent = (emitted: Emitted, text: string): LiveEvent | undefined => {
  const { emitterId, channel, eventId: id } = emitted;
  const sort = sortableEventId(id);
  if (sort === undefined) return undefined;
  return {
    emitterId,
    channel,
    id,
    sort,
    payload: oneLine(text),
    envelope: () => oneLine([...jsonParts(eventSummary({ doc: emitted, event: text, truncated: false }))].join('')),
  };
};

/** Undefined for a record that brings no event to readers: a deletion, or an event that waits. */
export const liveEventOf = ({ headers, value }: LogRecord): LiveEvent | undefined => {
  const { kind, id: eventId, emitter: emitterId, channel, emit: emitId } = headers as EmitHeaders;
  if (kind !== 'emit') return undefined;
  const { dedupe, summary, ts, test } = headers;
  const emitted: Emitted = {
    emitterId,
    channel,
    eventId,
    emitId,
    ...(dedupe === undefined ? {} : { dedupe }),
    ...(summary === undefined ? {} : { summary }),
    ...(ts === undefined ? {} : { ts }),
    ...(test === undefined ? {} : { test: '1' }),
  };
  return liveEvent(emitted, value);
};

/** A line break in JSON text is white space, and would end a line of the stream. */
const oneLine = (json: string): string => (/[\r\n]/.test(json) ? json.replace(/[\r\n]+/g, ' ') : json);
