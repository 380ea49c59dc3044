import { type Asking } from './ask-prop.js';
import { isFields } from './json.js';
import { momentOf } from './text.js';
import { cronTimes } from './timers.js';

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Asks for an interval or a cron pattern, and shows the next three runs. The server checks its limits. */
export const askTimer = async (asking: Asking, message: string, former: unknown): Promise<unknown> => {
  const { prompts, context } = asking;
  for (;;) {
    const text = (await prompts.text(`${message}: every 15m, 2h, or a cron pattern`, initialOf(former))).trim();
    if (text === '') return undefined;
    const seconds = secondsIn(text);
    const timezone = seconds === undefined ? await zone(asking, text, former) : undefined;
    const times = seconds === undefined ? cronTimes(text, timezone, RUNS) : intervalTimes(seconds);
    if (times === undefined) {
      context.io.err('  That is neither a time like 15m nor a cron pattern like 0 9 * * 1-5.');
      continue;
    }
    context.io.err(
      `  Next runs: ${times.map((time) => momentOf(time.getTime(), shownIn(context.look.columns))).join(', ')}`,
    );
    return seconds === undefined ? { cron: text, timezone } : { intervalSeconds: seconds };
  }
};

const RUNS = 3;

const secondsIn = (text: string): number | undefined => {
  const [, count = '', unit = ''] = /^(?:every +)?(\d{1,8}) *([smhd]?)$/.exec(text) ?? [];
  return count === '' ? undefined : Number(count) * (SECONDS[unit] ?? 1);
};

/** An interval counts from the deployment, which is its first run. */
const intervalTimes = (seconds: number): readonly Date[] =>
  Array.from({ length: RUNS }, (_, n) => new Date(Date.now() + n * seconds * 1_000));

/** Asked only of a pattern, because an interval has no zone. */
const zone = ({ prompts }: Asking, pattern: string, former: unknown): Promise<string> | string => {
  if (cronTimes(pattern, 'UTC', 1) === undefined) return 'UTC';
  const stored = isFields(former) ? former['timezone'] : undefined;
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return prompts.text('Time zone of the pattern', typeof stored === 'string' ? stored : here);
};

const initialOf = (former: unknown): string => {
  if (!isFields(former)) return '';
  const { cron, intervalSeconds, interval_seconds: seconds = intervalSeconds } = former;
  if (typeof cron === 'string') return cron;
  return typeof seconds === 'number' ? `${seconds}s` : '';
};

/** A person reads these also where the results go into a pipe. */
const shownIn = (columns: number | undefined): { readonly colours: false; readonly columns: number } => ({
  colours: false,
  columns: columns ?? 80,
});
