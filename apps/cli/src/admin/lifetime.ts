const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const isUnit = (text: string): text is keyof typeof UNITS_MS => text in UNITS_MS;
/** Ten years. A key for a longer time needs no end. */
const LONGEST_MS = 3_650 * UNITS_MS.d;

/** Epoch milliseconds, in whole seconds, at which a time such as `30d` from now ends. Throws for anything else. */
export const endAfter = (given: string, now: number): number => {
  const [, digits = '', unit = ''] = /^(\d{1,9})([a-z])$/.exec(given) ?? [];
  const ms = isUnit(unit) ? Number(digits) * UNITS_MS[unit] : 0;
  if (ms > 0 && ms <= LONGEST_MS) return Math.floor((now + ms) / 1_000) * 1_000;
  throw new Error(
    `--expires-in must be a number with m, h, d or w (minutes, hours, days, weeks), such as 30d, ` +
      `of at most 3650d; got ${given.slice(0, 60)}`,
  );
};
