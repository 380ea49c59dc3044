import { ERRORS_CHANNEL, LOGS_CHANNEL, PLATFORM_CHANNELS } from '#libs/component-model/channels.js';
import { type Asked, type Shown, shownRecord } from '#libs/event-streams/index.js';
import { jsonParts } from '#libs/http/raw-json.js';
import { epochMsOf } from '../domain/event-id.js';
import { eventSummary, type ListedEvent } from '../event-summary.js';

/** Channel that means all channels that components emit on. */
const EVERY_CHANNEL = '*';

/** Name of the stream that shows a channel; undefined for none of these streams. */
export const streamOf = (channel: string, { streams, eventName }: Asked): string | undefined => {
  const named = channel === LOGS_CHANNEL ? 'logs' : channel === ERRORS_CHANNEL ? 'errors' : 'events';
  if (!streams.has(named)) return undefined;
  if (named !== 'events' || eventName === channel) return named;
  return eventName === EVERY_CHANNEL && !PLATFORM_CHANNELS.has(channel) ? named : undefined;
};

/** The event summary of an event, as a stream shows it. */
export const shownSummary = (
  name: string,
  { eventId, emitterId }: ListedEvent['doc'],
  listed: () => ListedEvent,
): Shown =>
  shownRecord(name, { at: epochMsOf(eventId), id: `${emitterId}/${eventId}` }, () =>
    [...jsonParts(eventSummary(listed()))].join(''),
  );
