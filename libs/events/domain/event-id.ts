import { DomainError } from '#libs/kernel/domain-error.js';
import { sortableEventId } from '#libs/stream-log/event-ids.js';

/** Returns the sortable form of an event id. Throws event.invalid_id, which names the field. */
export const checkEventId = (id: string, field: string): string => {
  const sortable = sortableEventId(id);
  if (sortable !== undefined) return sortable;
  const actual = id.length > 100 ? `${id.slice(0, 100)}…` : id;
  throw new DomainError(
    'event.invalid_id',
    `${field} must be an event id such as 1700000000000-0, as in event summaries; got ${actual}`,
    { field, actual },
  );
};

export const epochMsOf = (id: string): number => Number(id.slice(0, id.indexOf('-')));
