import { Cron } from 'croner';
import { BoundedMap, bytesOfText } from '#libs/kernel/bounded-map.js';
import { type Timer } from '#libs/sources/published.js';
import { canonicalZone } from './time-zone.js';

/** Most bytes of a parsed pattern, without its text. */
const CRON_BYTES = 6_000;
const parsed = new BoundedMap<string, Cron>(16 * 1024 * 1024, (key) => 2 * bytesOfText(key) + CRON_BYTES);

/** Caches parsed patterns, because parsing costs more than a query. A Cron that gets no function schedules nothing. */
const cronOf = (pattern: string, timezone: string): Cron => {
  const key = `${timezone}\n${pattern}`;
  let cron = parsed.get(key);
  if (!cron) parsed.set(key, (cron = new Cron(pattern, { timezone })));
  return cron;
};

/**
 * Returns the first tick after `after` (exclusive) in epoch milliseconds, undefined when the timer never ticks again.
 * Intervals count from `since`, when the timer was armed, so they do not drift
 * (docs/reference/component-model.md#timer-interval). Cron follows the clock of its time zone. A time that the clock
 * skips ticks right after the change, and a time that it repeats ticks once
 * (docs/reference/component-model.md#timer-cron).
 */
export const nextTick = (timer: Timer, since: number, after: number): number | undefined => {
  if (timer.intervalSeconds !== null) {
    const interval = timer.intervalSeconds * 1000;
    if (!(interval > 0)) return undefined;
    return since + Math.max(1, Math.floor((after - since) / interval) + 1) * interval;
  }
  if (timer.cron === null) return undefined;
  return cronOf(timer.cron, canonicalZone(timer.timezone ?? 'UTC'))
    .nextRun(new Date(Math.max(after, since)))
    ?.getTime();
};

/**
 * Returns the first due time after a start. A past time means that one tick is owed for it, however many were missed.
 * With `atOnce`, an interval timer without a tick is due when it was armed. A cron timer waits for its next time.
 */
export const firstDue = (
  timer: Timer,
  since: number,
  lastTick: number | undefined,
  atOnce: boolean,
): number | undefined => {
  if (lastTick !== undefined && lastTick >= since) return nextTick(timer, since, lastTick);
  if (atOnce && timer.intervalSeconds !== null) return since;
  return nextTick(timer, since, since);
};
