import { Cron } from 'croner';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { type Timer } from '../published.js';
import { invalidProp, missingTimer, shown } from './prop-error.js';

/** Shortest time between two ticks, in seconds. See docs/reference/component-model.md#prop-timer-limits. */
export const MIN_INTERVAL_SECONDS = 15;
export const MAX_INTERVAL_SECONDS = 366 * 24 * 3600;
/** Characters of each text of a timer (docs/reference/limits.md#timer-texts). Each start reads all of them. */
export const TIMER_TEXTS = { cron: 256, timezone: 64, intervalSeconds: 32 } as const;

const EXPECTED = '{intervalSeconds} or {cron, timezone?}';

/**
 * Chooses the timer of a prop: `static` in the code, then the given value, the stored one, the default. A null in
 * `given` removes the stored value. Undefined for an optional timer without a value. `now` is epoch milliseconds.
 * Throws source.invalid_prop, source.missing_prop.
 */
export const timerOf = (
  prop: ConfigurableProp,
  given: unknown,
  stored: Timer | undefined,
  now: number,
): Timer | undefined => {
  if (prop.static !== undefined && prop.static !== null) return parseTimer(prop.name, prop.static, now);
  if (given !== undefined && given !== null) return parseTimer(prop.name, given, now);
  if (given === undefined && stored !== undefined) return stored;
  if (prop.default !== undefined && prop.default !== null) return parseTimer(prop.name, prop.default, now);
  if (prop.optional === true) return undefined;
  throw missingTimer(prop.name, prop.type);
};

const parseTimer = (prop: string, value: unknown, now: number): Timer => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidProp(prop, EXPECTED, shown(value));
  }
  // Accepts the form of a reply as input, with null for fields that are not set.
  const fields = new Map<string, unknown>(Object.entries(value).filter(([, v]) => v !== null && v !== undefined));
  const cron = fields.get('cron');
  const interval = fields.get('intervalSeconds') ?? fields.get('interval_seconds');
  checkText(prop, 'cron', cron);
  checkText(prop, 'intervalSeconds', interval);
  checkText(prop, 'timezone', fields.get('timezone'));
  if ((cron === undefined) === (interval === undefined)) {
    throw invalidProp(prop, `one of ${EXPECTED}`, cron === undefined ? shown(value) : 'both');
  }
  if (cron === undefined) {
    return { kind: 'timer', prop, cron: null, intervalSeconds: intervalOf(prop, interval), timezone: null };
  }
  const timezone = timezoneOf(prop, fields.get('timezone'));
  return { kind: 'timer', prop, cron: cronOf(prop, cron, timezone, now), intervalSeconds: null, timezone };
};

const checkText = (prop: string, field: keyof typeof TIMER_TEXTS, value: unknown): void => {
  const limit = TIMER_TEXTS[field];
  if (typeof value !== 'string' || value.length <= limit) return;
  throw invalidProp(
    prop,
    `a timer whose ${field} has at most ${limit} characters`,
    `${value.length} characters`,
    limit,
  );
};

const intervalOf = (prop: string, value: unknown): number => {
  const seconds = typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : value;
  if (typeof seconds !== 'number' || !Number.isInteger(seconds)) {
    throw invalidProp(prop, 'a timer whose intervalSeconds is an integer', shown(value));
  }
  if (seconds < MIN_INTERVAL_SECONDS) {
    const expected = `a timer with an interval of at least ${MIN_INTERVAL_SECONDS} seconds`;
    throw invalidProp(prop, expected, seconds, MIN_INTERVAL_SECONDS);
  }
  if (seconds > MAX_INTERVAL_SECONDS) {
    const expected = `a timer with an interval of at most ${MAX_INTERVAL_SECONDS} seconds`;
    throw invalidProp(prop, expected, seconds, MAX_INTERVAL_SECONDS);
  }
  return seconds;
};

const timezoneOf = (prop: string, value: unknown): string | null => {
  if (value === undefined || value === '') return null;
  if (typeof value === 'string' && isTimezone(value)) return value;
  throw invalidProp(prop, 'a timer whose timezone is an IANA name such as Europe/Berlin', shown(value));
};

const isTimezone = (name: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
};

const CRON = 'a timer whose cron has 5 fields (6 with seconds), such as 0 9 * * 1-5';

const cronOf = (prop: string, value: unknown, timezone: string | null, now: number): string => {
  if (typeof value !== 'string') throw invalidProp(prop, CRON, shown(value));
  const pattern = value.trim().replace(/\s+/g, ' ');
  const fields = pattern.split(' ').length;
  if (fields !== 5 && fields !== 6) throw invalidProp(prop, CRON, shown(value));
  checkPace(prop, pattern, ticksOf(prop, pattern, timezone, now));
  return pattern;
};

/** Enough ticks for the shortest gap of a pattern with seconds: a full minute and the step into the next. */
const TICKS = 62;

const ticksOf = (prop: string, pattern: string, timezone: string | null, now: number): readonly Date[] => {
  try {
    // Cron schedules nothing, because it gets no function.
    return new Cron(pattern, { timezone: timezone ?? 'UTC' }).nextRuns(TICKS, new Date(now));
  } catch (error) {
    const why = messageOf(error);
    throw invalidProp(prop, `${CRON} (${why})`, shown(pattern));
  }
};

const checkPace = (prop: string, pattern: string, ticks: readonly Date[]): void => {
  if (ticks.length === 0) throw invalidProp(prop, 'a timer whose cron matches at least one date', shown(pattern));
  for (let i = 1; i < ticks.length; i++) {
    const gap = ((ticks[i]?.getTime() ?? 0) - (ticks[i - 1]?.getTime() ?? 0)) / 1000;
    if (gap >= MIN_INTERVAL_SECONDS) continue;
    const expected = `a timer that leaves at least ${MIN_INTERVAL_SECONDS} seconds between two ticks`;
    throw invalidProp(prop, expected, `${shown(pattern)}, which leaves ${gap}`, MIN_INTERVAL_SECONDS);
  }
};
