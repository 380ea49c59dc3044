import { Cron } from 'croner';
import { type Fields, isFields } from './json.js';
import { type Line, type Look, momentOf } from './text.js';

/** Next times of a cron pattern, or undefined when it is none. */
export const cronTimes = (
  pattern: string,
  timezone: string | undefined,
  count: number,
): readonly Date[] | undefined => {
  try {
    // Schedules nothing, because it gets no function.
    return new Cron(pattern, { timezone: timezone ?? 'UTC' }).nextRuns(count);
  } catch {
    return undefined;
  }
};

/** When the timers of a source run next, by the `configured_props` of a reply. */
export const timerLines = (configured: Fields, look: Look): readonly Line[] =>
  Object.values(configured).flatMap((value) => {
    if (!isFields(value)) return [];
    const { cron, interval_seconds: seconds, timezone } = value;
    if (typeof seconds === 'number') return [line('runs', `every ${seconds} s`)];
    if (typeof cron !== 'string') return [];
    const [next] = cronTimes(cron, typeof timezone === 'string' ? timezone : undefined, 1) ?? [];
    return next === undefined ? [] : [line('next run', momentOf(next.getTime(), look))];
  });

const line = (name: string, text: string): Line => [{ text: name.padEnd(10), as: 'dim' }, text];
