import { jsonEvent, type EventData, type ResolvedEvent, type AllStreamResolvedEvent } from '@eventstore/db-client';
import { type EventMetadata, type NewEvent, type RecordedEvent } from '#libs/kernel/events.js';
import { textOf } from './positions.js';

export const eventDataOf = ({ id, type, data, metadata }: NewEvent): EventData =>
  jsonEvent({ id, type, data: { ...data }, metadata: { ...metadata } });

/** Bytes of an event as the server counts them against its limit for an append. */
export const appendBytes = ({ type, data, metadata }: NewEvent): number =>
  2 * type.length + Buffer.byteLength(JSON.stringify(data)) + Buffer.byteLength(JSON.stringify(metadata));

/** An event of this log that cannot be used. No retry makes it readable. */
export class UnreadableEvent extends Error {
  constructor(event: string, reason: string) {
    super(`${event} cannot be read: ${reason}`);
    this.name = 'UnreadableEvent';
  }
}

/**
 * Returns undefined for an event of another installation, of the system, or of another program. Throws UnreadableEvent,
 * naming the event.
 *
 * @param onForeign called for an event that another program wrote to a stream with a name like ours.
 */
export const recordedEvent = (
  { event }: ResolvedEvent | AllStreamResolvedEvent,
  own: (streamOnServer: string) => string | undefined,
  onForeign: (event: string) => void,
): RecordedEvent | undefined => {
  const stream = event && own(event.streamId);
  if (!event || stream === undefined) return undefined;
  const { id, type, revision, data, position, created } = event;
  const named = `event ${revision} of stream ${event.streamId}`;
  const { metadata } = event;
  if (!isOurs(metadata)) {
    onForeign(named);
    return undefined;
  }
  if (!position) throw new UnreadableEvent(named, 'the server gives no position, it is older than 22.6');
  if (!isPlainObject(data)) throw new UnreadableEvent(named, 'its data is no JSON object');
  const recordedAt = metadata.$recordedAt ?? created.getTime();
  return { id, type, data, metadata, stream, revision, position: textOf(position), recordedAt };
};

const isPlainObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof Uint8Array);

/** Whether this program wrote an event with this metadata. Only events of commands have it. */
const isOurs = (metadata: unknown): metadata is EventMetadata =>
  isPlainObject(metadata) &&
  ['commandId', 'workspaceId'].every((name) => name in metadata && typeof metadata[name as never] === 'string');
