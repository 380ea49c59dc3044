import { DomainError } from '#libs/kernel/domain-error.js';

const EVENT_ID = /^(\d{1,15})-(\d{1,10})$/;

/** Event id `<epoch ms>-<seq>` in fixed width: text order is the order of emission. undefined when it is no event id. */
export const sortableEventId = (id: string): string | undefined => {
  const [, ms, seq] = EVENT_ID.exec(id) ?? [];
  return ms === undefined || seq === undefined ? undefined : `${ms.padStart(15, '0')}-${seq.padStart(10, '0')}`;
};

/** Throws event.invalid_id, naming the field. */
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
