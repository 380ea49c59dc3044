import { type Timer } from '#libs/sources/published.js';
import { canonicalZone } from './time-zone.js';

interface LocalTime {
  readonly iso8601: {
    /** Local date and time, with the offset of the zone at that time. */
    readonly timestamp: string;
    readonly date: string;
    readonly time: string;
    /** IANA name of the time zone. */
    readonly timezone: string;
  };
  /** Epoch seconds. */
  readonly epoch: number;
}

/**
 * Returns the JSON text of the event that a tick passes to `run` (docs/reference/component-model.md#timer-event).
 * @param at scheduled time in epoch milliseconds.
 */
export const tickEvent = (timer: Timer, at: number): string =>
  JSON.stringify({
    timestamp: Math.floor(at / 1000),
    ...(timer.cron === null ? { interval_seconds: timer.intervalSeconds } : { cron: timer.cron }),
    timezone_configured: localTime(at, timer.timezone ?? 'UTC'),
    timezone_utc: localTime(at, 'UTC'),
  });

const localTime = (at: number, timezone: string): LocalTime => {
  const { date, clock, offset } = partsOf(at, timezone);
  const time = `${clock}${offset}`;
  return { iso8601: { timestamp: `${date}T${time}`, date, time, timezone }, epoch: Math.floor(at / 1000) };
};

const formats = new Map<string, Intl.DateTimeFormat>();

/** Caches one format per zone. The number of canonical zones, about 450, bounds the cache. */
const formatOf = (timezone: string): Intl.DateTimeFormat => {
  const timeZone = canonicalZone(timezone);
  let format = formats.get(timeZone);
  if (!format) {
    const two = '2-digit';
    const fields = { year: 'numeric', month: two, day: two, hour: two, minute: two, second: two } as const;
    format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', timeZoneName: 'longOffset', ...fields });
    formats.set(timeZone, format);
  }
  return format;
};

const partsOf = (at: number, timezone: string): { date: string; clock: string; offset: string } => {
  if (timezone === 'UTC') {
    const iso = new Date(at).toISOString();
    return { date: iso.slice(0, 10), clock: iso.slice(11, 19), offset: 'Z' };
  }
  const parts = new Map(
    formatOf(timezone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? '';
  // The part is `GMT-05:00`, or `GMT` alone for no offset.
  const offset = part('timeZoneName').slice('GMT'.length) || '+00:00';
  return {
    date: `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`,
    clock: `${part('hour')}:${part('minute')}:${part('second')}`,
    offset,
  };
};
