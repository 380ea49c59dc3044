import { type CollectionSchema, type Doc } from '#libs/kernel/read-model-store.js';
import { type EmitHeaders, type EmitterHeaders, emitterHeaders, eventParts } from '#libs/stream-log/envelopes.js';
import { PLATFORM_CHANNELS } from '#libs/component-model/channels.js';
import { type StreamProjection } from '#libs/stream-log/stream-projection.js';
import { EMITS } from '#libs/stream-log/topics.js';
import { sortableEventId } from '#libs/stream-log/event-ids.js';
import { runsOf } from '#libs/stream-log/source-runs.js';
import { truncateJson } from '#libs/http/truncate-event.js';
import { type KeptEvents } from '../ports.js';
import { type CountsDoc, countsDocId, countsDocs } from './counts-doc.js';
import { runDoc, type RunDoc, runListOf } from './run-doc.js';

/** Largest event in a list, in bytes of JSON. */
export const MAX_SHORT_BYTES = 1024;
/** Approximate bytes that an event occupies besides its texts, for ids, columns and indexes. */
const OVERHEAD_BYTES = 600;

export interface EventDoc extends Doc {
  readonly emitterId: string;
  readonly channel: string;
  /** Key of one list: emitter and channel. */
  readonly list: string;
  /** Key of the channels that are deleted together. All channels except the platform's form one family. */
  readonly family: string;
  /** The event id in fixed width. */
  readonly sort: string;
  readonly eventId: string;
  readonly emitId: string;
  readonly workspaceId: string;
  /** Event or its shortened form, as JSON text of at most 1 KB. */
  readonly short: string;
  /** JSON text of a shortened event as it was emitted. Stored beside the document. */
  readonly payload?: string;
  /** UTF-8 bytes of `payload`; 0 when `short` is the whole event. */
  readonly payloadBytes: number;
  /** Bytes that the event counts towards the limits. */
  readonly bytes: number;
  /** JSON text of the id given to `$emit`. */
  readonly dedupe?: string;
  readonly summary?: string;
  /** Epoch ms in decimal. */
  readonly ts?: string;
  /** Set for a sample event, and for one that no listener gets. */
  readonly test?: '1';
  /** Id of the run or hook of a source that emitted it. */
  readonly invocation?: string;
  /** Set for one that no listener gets. */
  readonly notrigger?: '1';
}

export const eventSummaries: CollectionSchema = {
  name: 'events.summaries.v2',
  indexed: ['list', 'family', 'workspaceId'],
  sort: 'sort',
  bytes: 'bytes',
  beside: 'payload',
};

export const listOf = (emitterId: string, channel: string): string => `${emitterId}/${channel}`;
export const familyOf = (emitterId: string, channel: string): string =>
  `${emitterId}/${PLATFORM_CHANNELS.has(channel) ? channel : ''}`;
export const eventDocId = (emitterId: string, channel: string, eventId: string): string =>
  `${emitterId}/${channel}/${eventId}`;

/** Events of an emitter over all its channels, as a multiple of those of one channel. */
export const CHANNELS_KEPT = 100;

/**
 * Keeps the newest events of each channel of every emitter, shortened and as whole text, and as many of its newest runs.
 */
export const eventSummariesProjection = (settings: KeptEvents): StreamProjection<EventDoc | RunDoc | CountsDoc> => ({
  name: eventSummaries.name,
  prefix: EMITS,
  schema: eventSummaries,
  keep: { by: 'list', newest: settings.retained },
  bounds: [
    // Trimmed by family, so the emits of a source do not push out its errors.
    { by: 'family', newest: CHANNELS_KEPT * settings.retained, bytes: settings.sourceBytes },
    { by: 'workspaceId', bytes: settings.workspaceBytes },
  ],

  interpret(record) {
    const headers = emitterHeaders(record);
    if (headers.kind === 'runs') {
      const runs = runsOf(record, settings.retained).map((run) => runDoc(headers, run));
      return { kind: 'put', docs: [...runs, ...countsDocs(headers)] };
    }
    if (headers.kind === 'delete') {
      const { emitter: emitterId, channel, start, end, every } = headers;
      const from = start === undefined ? undefined : sortableEventId(start);
      const to = end === undefined ? undefined : sortableEventId(end);
      return {
        kind: 'remove',
        where: every === '1' ? { family: familyOf(emitterId, '') } : { list: listOf(emitterId, channel) },
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
      };
    }
    // The router keeps waiting events. They arrive as emits once they go out.
    return isListed(headers) ? { kind: 'put', docs: [eventDoc(headers, record.value)] } : undefined;
  },

  // An event that no list keeps gets no document.
  listOf: (record) => {
    const headers = emitterHeaders(record);
    if (headers.kind === 'delete') return undefined;
    if (headers.kind === 'runs') return runListOf(headers.emitter);
    return isListed(headers) ? listOf(headers.emitter, headers.channel) : '';
  },

  ofKey: (emitterId) => [
    ...['', ...PLATFORM_CHANNELS].map((channel) => ({ family: familyOf(emitterId, channel) })),
    { family: runListOf(emitterId) },
    { family: countsDocId(emitterId) },
  ],
});

const isListed = (headers: EmitterHeaders): headers is EmitHeaders =>
  headers.kind === 'emit' && headers.nostore !== '1';

const eventDoc = (headers: EmitHeaders, value: string): EventDoc => {
  const { id, emitter: emitterId, workspace: workspaceId, channel, emit: emitId } = headers;
  const sort = sortableEventId(id);
  if (sort === undefined) throw new Error(`${id} is not an event id`);
  const { dedupe, summary, notrigger } = headers;
  const { nostore: _, ...parts } = eventParts(headers);
  const { text: short, truncated } = truncateJson(value, MAX_SHORT_BYTES);
  const payloadBytes = truncated ? Buffer.byteLength(value) : 0;
  const named = 3 * Buffer.byteLength(channel) + Buffer.byteLength(summary ?? '') + Buffer.byteLength(dedupe ?? '');
  return {
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
    ...parts,
    ...(notrigger === undefined ? {} : { notrigger }),
  };
};
