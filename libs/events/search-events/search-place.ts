import { describe } from '#libs/http/parameters.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type ScanPlace } from '#libs/kernel/read-model-store.js';
import { sortableEventId } from '#libs/stream-log/event-ids.js';
import { type EventDoc } from '../read-models/event-summaries.projection.js';

const CURSOR = /^(\d{1,15}-\d{1,10})\.([a-z]+_[0-9A-Za-z]{1,64})$/;

/** Cursor of an event among those of all emitters: its id and its emitter, which together are unique. */
export const cursorOf = ({ eventId, emitterId }: Pick<EventDoc, 'eventId' | 'emitterId'>): string =>
  `${eventId}.${emitterId}`;

/** The cursor of a place that a scan has reached, from the id of its document (`eventDocId`). */
export const cursorOfPlace = ({ id }: ScanPlace): string =>
  cursorOf({ emitterId: id.slice(0, id.indexOf('/')), eventId: id.slice(id.lastIndexOf('/') + 1) });

/** The place of a cursor, also of an event that is gone. Throws request.invalid_cursor. */
export const placeOf = (cursor: string): ScanPlace => {
  const [, eventId = '', emitterId = ''] = CURSOR.exec(cursor) ?? [];
  const sort = sortableEventId(eventId);
  // Ids of the emitter's events begin with this and are longer, so none of them is below the place.
  if (sort !== undefined) return { sort, id: `${emitterId}/` };
  const actual = describe(cursor);
  throw new DomainError(
    'request.invalid_cursor',
    `parameter after must be a cursor from page_info of this list; got ${String(actual)}`,
    { field: 'after', actual },
  );
};
