import { type StreamOptions } from '#libs/event-streams/index.js';
import { EMITS } from '#libs/stream-log/topics.js';
import { eventSummary } from '../event-summary.js';
import { emitterHeaders, eventParts } from '#libs/stream-log/envelopes.js';
import { sortableEventId } from '#libs/stream-log/event-ids.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { jsonParts } from '#libs/http/raw-json.js';

/**
 * Form of events in a stream: the emitted value alone, the event summary with the whole event, or a message of
 * `$.send.sse`, whose channel is in `event:`.
 */
export type StreamForm = 'plain' | 'envelope' | 'message';

interface Emitted {
  readonly emitterId: string;
  readonly channel: string;
  readonly eventId: string;
  readonly emitId: string;
  readonly dedupe?: string;
  readonly summary?: string;
  readonly ts?: string;
  readonly test?: '1';
  readonly invocation?: string;
  /** No listener gets it. */
  readonly notrigger?: '1';
}

/** `event:` of an event that was sent with `x-pd-notrigger` (docs/reference/rest-api.md#stream-test-events). */
const TEST = 'test';

interface ShownEvents {
  readonly emitterId: string;
  /** The one channel that the stream shows. */
  readonly channel: string;
  readonly form: StreamForm;
}

/** An event on its way to open streams. */
export class LiveEvent {
  private readonly frames = new Map<StreamForm, Buffer>();

  /**
   * @param sort the event id in fixed width, which orders the events of an emitter.
   * @param text JSON text of the emitted value.
   */
  constructor(
    readonly sort: string,
    private readonly emitted: Emitted,
    private readonly text: string,
  ) {}

  get channel(): string {
    return this.emitted.channel;
  }

  /** The encoded event. Made at the first call for a form; all streams of that form write this one buffer. */
  frame(form: StreamForm): Buffer {
    let frame = this.frames.get(form);
    if (!frame) this.frames.set(form, (frame = Buffer.from(this.textOf(form))));
    return frame;
  }

  private textOf(form: StreamForm): string {
    const { emitted, text } = this;
    const isTest = emitted.notrigger === '1';
    switch (form) {
      case 'plain':
        return this.block(text, isTest ? TEST : undefined);
      case 'envelope': {
        const summary = eventSummary({ doc: emitted, event: text, truncated: false });
        return this.block([...jsonParts(summary)].join(''), isTest ? TEST : undefined);
      }
      case 'message': {
        const { channel, payload } = JSON.parse(text) as { readonly channel: string; readonly payload: unknown };
        return this.block(JSON.stringify(payload), channel);
      }
    }
  }

  private block(data: string, name: string | undefined): string {
    return `id: ${this.emitted.eventId}\n${name === undefined ? '' : `event: ${name}\n`}data: ${oneLine(data)}\n\n`;
  }
}

/**
 * Undefined for an event without a valid id.
 *
 * @param text JSON text of the value.
 */
export const liveEvent = (emitted: Emitted, text: string): LiveEvent | undefined => {
  const sort = sortableEventId(emitted.eventId);
  return sort === undefined ? undefined : new LiveEvent(sort, emitted, text);
};

/** Undefined for a record without an event for readers, such as a deletion or a waiting event. */
const liveEventOf = (record: LogRecord): LiveEvent | undefined => {
  const headers = emitterHeaders(record);
  if (headers.kind !== 'emit') return undefined;
  const { id: eventId, emitter: emitterId, channel, emit: emitId, notrigger } = headers;
  const { nostore: _, ...parts } = eventParts(headers);
  const emitted: Emitted = {
    emitterId,
    channel,
    eventId,
    emitId,
    ...parts,
    ...(notrigger === undefined ? {} : { notrigger }),
  };
  return liveEvent(emitted, record.value);
};

/** A stream of what an emitter emits. */
export const emitsStream = ({ emitterId, channel, form }: ShownEvents, keepAlive: string): StreamOptions => ({
  emitterId,
  reads: [{ topics: EMITS, key: emitterId }],
  keepAlive,
  about: { channel, form },
  show: (live) => {
    const event = live.once(liveEventOf);
    return event?.channel === channel ? { sort: event.sort, frame: event.frame(form) } : undefined;
  },
});

/** A line break in JSON text is white space, and would end a line of the stream. */
const oneLine = (text: string): string => (/[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, ' ') : text);
