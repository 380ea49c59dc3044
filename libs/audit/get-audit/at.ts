import { DomainError } from '#libs/kernel/domain-error.js';

/** A point in a resource's history: a revision, or a time in epoch milliseconds, inclusive. */
export type At = { readonly revision: bigint } | { readonly time: number };

const ISO = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/**
 * A number below 1,000,000,000 is a revision. From there on it is epoch seconds, and from 100,000,000,000 on epoch
 * milliseconds. A time without a fraction covers the whole second, so `created_at` of a reply finds the resource. Text
 * without a zone is UTC. Throws audit.invalid_at.
 */
export const parseAt = (given: unknown): At => {
  if (typeof given !== 'string') throw invalidAt(JSON.stringify(given));
  const text = given.trim();
  if (/^\d{1,15}$/.test(text)) {
    const number = Number(text);
    if (number < 1e9) return { revision: BigInt(text) };
    return { time: number < 1e11 ? number * 1000 + 999 : number };
  }
  // The zone's `+` arrives as a space when the client did not escape it in the query.
  const iso = text.replace(/ (\d{2}:?\d{2})$/, '+$1');
  const zoned = iso.includes('T') && !/(Z|[+-]\d{2}:?\d{2})$/.test(iso) ? `${iso}Z` : iso;
  const time = ISO.test(iso) ? Date.parse(zoned) : Number.NaN;
  if (Number.isNaN(time)) throw invalidAt(text);
  return { time: /T\d{2}:\d{2}:\d{2}(?!\.)/.test(iso) ? time + 999 : time };
};

const invalidAt = (actual: string): DomainError =>
  new DomainError(
    'audit.invalid_at',
    `parameter at must be a revision (0, 1, …), a time in epoch seconds or milliseconds, or an ISO 8601 time; got ${actual.slice(0, 60)}`,
    { field: 'at', actual: actual.slice(0, 60) },
  );
