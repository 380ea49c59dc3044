import { wrongUsage } from '../workflows/failure.js';

const MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a span such as 30s, 15m, 2h or 7d. Throws CommandFailure, which names the option. */
export const spanMs = (option: string, text: string): number => {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (MS[unit] ?? Number.NaN);
  if (ms > 0) return ms;
  throw wrongUsage(`${option} must be a time like 30s, 15m, 2h or 7d; got ${JSON.stringify(text.slice(0, 100))}`);
};
