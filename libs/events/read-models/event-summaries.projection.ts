import { type CollectionSchema, type Doc } from '#libs/kernel/read-model-store.js';
import { type EmitHeaders } from '#libs/stream-log/envelopes.js';
import { ERRORS_CHANNEL, LOGS_CHANNEL } from '#libs/component-model/channels.js';
import { type StreamProjection } from '#libs/stream-log/stream-projection.js';
import { EMITS } from '#libs/stream-log/topics.js';
import { sortableEventId } from '../domain/event-id.js';
import { truncateJson } from '../domain/truncate-event.js';
import { type KeptEvents } from '../ports.js';

/** Bytes of JSON of an event in a list. */
const MAX_SHORT_BYTES = 1024;
/** What an event occupies beside its texts, about: ids, columns, indexes. */
const OVERHEAD_BYTES = 600;

export interface EventDoc extends Doc {
  readonly emitterId: string;
  readonly channel: string;
  /** Emitter and channel: what one list shows. */
  readonly list: string;
  /** What goes together when a source's events are deleted: all channels but those of the platform. */
  readonly family: string;
  /** The event id in fixed width. */
  readonly sort: string;
  readonly eventId: string;
  readonly emitId: string;
  readonly workspaceId: string;
  /** JSON text of at most 1 KB: the event, or its shortened form. */
  readonly short: string;
  /** JSON text as it was emitted, of an event that was shortened. Stored beside the document. */
  readonly payload?: string;
  /** UTF-8 bytes of `payload`; 0 when `short` is the whole event. */
  readonly payloadBytes: number;
  /** What the event counts towards the bytes kept. */
  readonly bytes: number;
  /** JSON text of the id given to `$emit`. */
  readonly dedupe?: string;
  readonly summary?: string;
  /** Epoch ms, in decimal. */
  readonly ts?: string;
}

export const eventSummaries: CollectionSchema = {
  name: 'events.summaries.v2',
  indexed: ['list', 'family', 'workspaceId'],
  sort: 'sort',
  bytes: 'bytes',
  beside: 'payload',
  replaces: ['events.summaries.v1'],
};

/** Written or kept back by the platform; the channel of delayed events is decisions.md 1.6. */
const PLATFORM_CHANNELS: readonly string[] = [ERRORS_CHANNEL, LOGS_CHANNEL, '$in'];

export const listOf = (emitterId: string, channel: string): string => `${emitterId}/${channel}`;
export const familyOf = (emitterId: string, channel: string): string =>
  `${emitterId}/${PLATFORM_CHANNELS.includes(channel) ? channel : ''}`;
export const eventDocId = (emitterId: string, channel: string, eventId: string): string =>
  `${emitterId}/${channel}/${eventId}`;

/** The history of every emitter: the newest events of each channel, shortened, and whole as text. */
export const eventSummariesProjection = (settings: KeptEvents): StreamProjection<EventDoc> => ({
  name: eventSummaries.name,
  prefix: EMITS,
  schema: eventSummaries,
  keep: { by: 'list', newest: settings.retained },
  bounds: [
    // By family: what a source emits does not push out its errors.
    { by: 'family', newest: settings.retained * settings.channels, bytes: settings.sourceBytes },
    { by: 'workspaceId', bytes: settings.workspaceBytes },
  ],

  interpret({ headers, value }) {
    const { kind, id, emitter: emitterId, workspace: workspaceId = '', channel, emit: emitId } = headers as EmitHeaders;
    if (kind === 'delete') {
      const { start, end, every } = headers;
      const from = start === undefined ? undefined : sortableEventId(start);
      const to = end === undefined ? undefined : sortableEventId(end);
      return {
        kind: 'remove',
        where: every === '1' ? { family: familyOf(emitterId, '') } : { list: listOf(emitterId, channel) },
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
      };
    }
    const sort = sortableEventId(id);
    if (sort === undefined) throw new Error(`${id} is not an event id`);
    const { dedupe, summary, ts } = headers;
    const { text: short, truncated } = truncateJson(value, MAX_SHORT_BYTES);
    const payloadBytes = truncated ? Buffer.byteLength(value) : 0;
    const named = 3 * Buffer.byteLength(channel) + Buffer.byteLength(summary ?? '') + Buffer.byteLength(dedupe ?? '');
    const doc: EventDoc = {
      id: eventDocId(emitterId, channel, id),
      emitterId,
      channel,
      list: listOf(emitterId, channel),
      family: familyOf(emitterId, channel),
      sort,
      eventId: id,
      emitId,
      workspaceId,
      short,
      payloadBytes,
      bytes: OVERHEAD_BYTES + named + Buffer.byteLength(short) + payloadBytes,
      ...(truncated ? { payload: value } : {}),
      ...(dedupe === undefined ? {} : { dedupe }),
      ...(summary === undefined ? {} : { summary }),
      ...(ts === undefined ? {} : { ts }),
    };
    return { kind: 'put', doc };
  },

  ofKey: (emitterId) => ['', ...PLATFORM_CHANNELS].map((channel) => ({ family: familyOf(emitterId, channel) })),
});
