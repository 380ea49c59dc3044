import { DomainError } from '#libs/kernel/domain-error.js';
import { LEAST_EPOCH_SECONDS, momentOf } from '#libs/http/moment.js';

/** A point in a resource's history: a revision, or a time in epoch milliseconds, inclusive. */
export type At = { readonly revision: bigint } | { readonly time: number };

/**
 * A number below 1,000,000,000 is a revision. From there on it is epoch seconds, and from 100,000,000,000 on epoch
 * milliseconds. A time without a fraction covers the whole second, so `created_at` of a reply finds the resource. Text
 * without a zone is UTC. Throws audit.invalid_at.
 */
export const parseAt = (given: unknown): At => {
  if (typeof given !== 'string') throw invalidAt(JSON.stringify(given));
  const text = given.trim();
  if (/^\d{1,15}$/.test(text) && Number(text) < LEAST_EPOCH_SECONDS) return { revision: BigInt(text) };
  const moment = momentOf(text);
  if (!moment) throw invalidAt(text);
  return { time: moment.precision === 'second' ? moment.last : moment.first };
};

const invalidAt = (actual: string): DomainError =>
  new DomainError(
    'audit.invalid_at',
    `parameter at must be a revision (0, 1, …), a time in epoch seconds or milliseconds, or an ISO 8601 time; got ${actual.slice(0, 60)}`,
    { field: 'at', actual: actual.slice(0, 60) },
  );
