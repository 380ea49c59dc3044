import { DomainError } from '#libs/kernel/domain-error.js';
import { describe, type Parameters } from './parameters.js';

/** A time with the precision of its text, as a range of epoch milliseconds. Both ends are included. */
export interface Moment {
  readonly first: number;
  readonly last: number;
  readonly precision: 'day' | 'minute' | 'second' | 'millisecond';
}

/** A smaller number is not a time. A number from 100,000,000,000 on is in milliseconds. */
export const LEAST_EPOCH_SECONDS = 1e9;
const LEAST_EPOCH_MILLISECONDS = 1e11;

const LENGTH_MS = { day: 86_400_000, minute: 60_000, second: 1_000, millisecond: 1 } as const;
const ISO = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** Reads epoch seconds, epoch milliseconds or an ISO 8601 time, which is UTC without a zone. Undefined for other texts. */
export const momentOf = (given: string): Moment | undefined => {
  const text = given.trim();
  if (/^\d{10,15}$/.test(text)) {
    const number = Number(text);
    if (number < LEAST_EPOCH_SECONDS) return undefined;
    return number < LEAST_EPOCH_MILLISECONDS ? moment(number * 1_000, 'second') : moment(number, 'millisecond');
  }
  // The zone's `+` arrives as a space when the client did not escape it in the query.
  const iso = text.replace(/ (\d{2}:?\d{2})$/, '+$1');
  const [isTime, time, seconds, fraction, zone] = ISO.exec(iso) ?? [];
  const at = isTime === undefined ? Number.NaN : Date.parse(time !== undefined && zone === undefined ? `${iso}Z` : iso);
  if (Number.isNaN(at)) return undefined;
  if (time === undefined) return moment(at, 'day');
  if (seconds === undefined) return moment(at, 'minute');
  return moment(at, fraction === undefined ? 'second' : 'millisecond');
};

const moment = (first: number, precision: Moment['precision']): Moment => ({
  first,
  last: first + LENGTH_MS[precision] - 1,
  precision,
});

/** Reads `since` and `until` as epoch milliseconds, both included. Throws request.invalid_parameter. */
export const momentsIn = (params: Parameters): { readonly since?: number; readonly until?: number } => {
  const [since, until] = [momentIn(params, 'since')?.first, momentIn(params, 'until')?.last];
  if (since !== undefined && until !== undefined && since > until) {
    const [first, last] = [new Date(since).toISOString(), new Date(until).toISOString()];
    throw new DomainError(
      'request.invalid_parameter',
      `parameter since must not be after until; got ${first}, which is after ${last}`,
      { field: 'since', actual: first, until: last },
    );
  }
  return { ...(since === undefined ? {} : { since }), ...(until === undefined ? {} : { until }) };
};

const momentIn = (params: Parameters, name: 'since' | 'until'): Moment | undefined => {
  const given = params[name];
  if (given === undefined || given === null || given === '') return undefined;
  const moment = typeof given === 'string' || typeof given === 'number' ? momentOf(String(given)) : undefined;
  if (moment) return moment;
  const actual = describe(given);
  const message = `parameter ${name} must be a time in epoch seconds or milliseconds, or an ISO 8601 time; got ${String(actual)}`;
  throw new DomainError('request.invalid_parameter', message, { field: name, actual });
};
