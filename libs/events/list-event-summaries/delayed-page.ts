import { type DelayedEvent, type DelayedEvents } from '#libs/stream-log/delayed-events.js';
import { sortableEventId } from '#libs/stream-log/event-ids.js';
import { truncateJson } from '#libs/http/truncate-event.js';
import { bytesShown, type ListedEvent, type Shown } from '../event-summary.js';
import { MAX_SHORT_BYTES } from '../read-models/event-summaries.projection.js';
import { type EventsPage } from './list-event-summaries.query.js';

export interface DelayedQuery {
  readonly limit: number;
  /** Event ids. */
  readonly after?: string;
  readonly before?: string;
  readonly shown: Shown;
  /** Bytes of whole events in one page. One event alone always fits. */
  readonly pageBytes: number;
}

/** Lists the events of a source that wait, newest first (docs/reference/rest-api.md#delayed-events-listing). */
export const delayedPage = async (
  delayed: Pick<DelayedEvents, 'page'>,
  emitterId: string,
  { limit, after, before, shown, pageBytes }: DelayedQuery,
): Promise<EventsPage> => {
  const [older, newer] = [after, before].map((id) => (id === undefined ? undefined : sortableEventId(id)));
  const { events, total } = await delayed.page(emitterId, {
    limit,
    ...(older === undefined ? {} : { after: older }),
    ...(newer === undefined ? {} : { before: newer }),
  });
  const listed = events.map((event) => listedEvent(event, shown));
  if (!shown.expand && !shown.e) return { events: listed, total };
  // A page requested upwards is filled from its lower end, so the next page continues above it.
  const upwards = older === undefined && newer !== undefined;
  const fitting = firstWithin(upwards ? [...listed].reverse() : listed, pageBytes, shown);
  return { events: upwards ? fitting.reverse() : fitting, total };
};

const firstWithin = (events: readonly ListedEvent[], bytes: number, shown: Shown): ListedEvent[] => {
  let left = bytes;
  const end = events.findIndex(
    ({ event, whole = event }, i) => (left -= bytesShown(shown, event.length, whole.length)) < 0 && i > 0,
  );
  return end === -1 ? [...events] : events.slice(0, end);
};

/** What a list shows of an event that waits, beside its payload. */
export const delayedDoc = (delayed: DelayedEvent): ListedEvent['doc'] => {
  const { sourceId: emitterId, eventId, emitId, channel, dedupe, summary, ts, test, invocation, dueAt } = delayed;
  return {
    eventId,
    emitId,
    channel,
    emitterId,
    dueAt,
    ...(dedupe === undefined ? {} : { dedupe }),
    ...(summary === undefined ? {} : { summary }),
    ...(ts === undefined ? {} : { ts }),
    ...(test === undefined ? {} : { test }),
    ...(invocation === undefined ? {} : { invocation }),
  };
};

const listedEvent = (delayed: DelayedEvent, shown: Shown): ListedEvent => {
  const { payload } = delayed;
  const doc = delayedDoc(delayed);
  if (shown.expand) return { doc, event: payload, truncated: false };
  const { text, truncated } = truncateJson(payload, MAX_SHORT_BYTES);
  return shown.e && truncated ? { doc, event: text, truncated, whole: payload } : { doc, event: text, truncated };
};
