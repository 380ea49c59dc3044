const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `'15m'` or a number. Throws for anything else. */
export const spanOf = (given: string | number): number => {
  const [, count, unit] = typeof given === 'string' ? (/^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(given) ?? []) : [];
  const ms = typeof given === 'number' ? given : Number(count) * (UNITS[unit ?? ''] ?? NaN);
  if (Number.isFinite(ms) && ms >= 0) return Math.round(ms);
  throw new TypeError(
    `after: ${JSON.stringify(given)} is no time: give milliseconds, or such as "30s", "15m", "2h" or "7d"`,
  );
};

/** Epoch milliseconds. Throws for what is no time. */
export const momentOf = (given: string | number | Date): number => {
  const ms = typeof given === 'string' ? Date.parse(given) : Number(given);
  if (Number.isFinite(ms)) return Math.floor(ms);
  throw new TypeError(
    `now: ${JSON.stringify(given)} is no time: give one such as "2026-01-01T00:00:00Z", or epoch milliseconds`,
  );
};
