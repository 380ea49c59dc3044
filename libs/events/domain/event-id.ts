import { DomainError } from '#libs/kernel/domain-error.js';

const EVENT_ID = /^(\d{1,15})-(\d{1,10})$/;

/** Pads an event id `<epoch ms>-<seq>` so that text order is emission order. Returns undefined for any other text. */
export const sortableEventId = (id: string): string | undefined => {
  const [, ms, seq] = EVENT_ID.exec(id) ?? [];
  return ms === undefined || seq === undefined ? undefined : `${ms.padStart(15, '0')}-${seq.padStart(10, '0')}`;
};

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
