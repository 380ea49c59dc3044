import { wrongUsage } from './failure.js';

const MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SPAN = /^(\d{1,6})([smhd])$/;

const msOf = (text: string): number => {
  const [, count = '', unit = ''] = SPAN.exec(text) ?? [];
  return Number(count) * (MS[unit] ?? Number.NaN);
};

/** Milliseconds of a span such as 30s, 15m, 2h or 7d. Throws CommandFailure, which names the option. */
export const spanMs = (option: string, text: string): number => {
  const ms = msOf(text);
  if (ms > 0) return ms;
  throw wrongUsage(`${option} must be a time like 30s, 15m, 2h or 7d; got ${JSON.stringify(text.slice(0, 100))}`);
};

/** As `momentGiven`, for a parameter of the API. */
export const timeGiven = (option: string, text: string | undefined): string | undefined =>
  text === undefined ? undefined : String(momentGiven(option, text));

/**
 * Epoch milliseconds of a time ago, such as 2h, or of a time such as 2026-01-31T12:00Z. Throws CommandFailure, which
 * names the option.
 *
 * @param or what else the option takes.
 */
export const momentGiven = (option: string, text: string, or?: string): number => {
  const ago = msOf(text);
  if (ago > 0) return Date.now() - ago;
  const at = /^\d{4}-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  const allowed = `a time ago like 30s, 15m, 2h or 7d, or a time like 2026-01-31T12:00Z`;
  throw wrongUsage(
    `${option} must be ${or === undefined ? '' : `${or}, `}${allowed}; got ${JSON.stringify(text.slice(0, 100))}`,
  );
};
