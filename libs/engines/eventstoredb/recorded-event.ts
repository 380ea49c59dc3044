import { jsonEvent, type EventData, type ResolvedEvent, type AllStreamResolvedEvent } from '@eventstore/db-client';
import { type EventMetadata, type NewEvent, type RecordedEvent } from '#libs/kernel/events.js';
import { textOf } from './positions.js';

export const eventDataOf = ({ id, type, data, metadata }: NewEvent): EventData =>
  jsonEvent({ id, type, data: { ...data }, metadata: { ...metadata } });

/** An event of this log with a wrong format. No retry makes it readable. */
export class UnreadableEvent extends Error {
  constructor(event: string, reason: string) {
    super(`${event} cannot be read: ${reason}`);
    this.name = 'UnreadableEvent';
  }
}

/** Returns undefined for an event of another installation or the system. Throws UnreadableEvent, naming the event. */
export const recordedEvent = (
  { event }: ResolvedEvent | AllStreamResolvedEvent,
  own: (streamOnServer: string) => string | undefined,
): RecordedEvent | undefined => {
  const stream = event && own(event.streamId);
  if (!event || stream === undefined) return undefined;
  const { id, type, revision, data, position, created } = event;
  const named = `event ${revision} of stream ${event.streamId}`;
  const { metadata } = event;
  if (!position) throw new UnreadableEvent(named, 'the server gives no position, it is older than 22.6');
  if (!isPlainObject(data) || !isEventMetadata(metadata)) throw new UnreadableEvent(named, 'not written by Sluice');
  const recordedAt = metadata.$recordedAt ?? created.getTime();
  return { id, type, data, metadata, stream, revision, position: textOf(position), recordedAt };
};

const isPlainObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof Uint8Array);

const isEventMetadata = (value: unknown): value is EventMetadata => isPlainObject(value) && 'commandId' in value;
