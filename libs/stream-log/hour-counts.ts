/** Events and errors that a source had in an hour. */
export interface Counted {
  readonly events: number;
  readonly errors: number;
}

/** What a source had in each of the last 24 hours. A commit of its runs carries the whole of it (docs/adr/0089). */
export interface HourCounts {
  /** Epoch milliseconds of the last commit with an event, and with an error; 0 for none. */
  readonly lastEventAt: number;
  readonly lastErrorAt: number;
  /** Hours since the epoch, of the first entry of `hours`. Those before follow. */
  readonly hour: number;
  readonly hours: readonly Counted[];
}

const HOUR_MS = 3_600_000;
const HOURS = 24;
const NONE: Counted = { events: 0, errors: 0 };

export const NO_COUNTS: HourCounts = { lastEventAt: 0, lastErrorAt: 0, hour: 0, hours: [] };

/** Adds what a commit has. A clock that is set back counts in the newest hour. */
export const withCounted = (counts: HourCounts, at: number, { events, errors }: Counted): HourCounts => {
  const hour = Math.max(counts.hour, Math.floor(at / HOUR_MS));
  const [newest = NONE, ...before] = hoursFrom(counts, hour);
  return {
    lastEventAt: events > 0 ? Math.max(counts.lastEventAt, at) : counts.lastEventAt,
    lastErrorAt: errors > 0 ? Math.max(counts.lastErrorAt, at) : counts.lastErrorAt,
    hour,
    hours: [{ events: newest.events + events, errors: newest.errors + errors }, ...before],
  };
};

/** Sums this hour and the 23 before. */
export const countedInDay = (counts: HourCounts, now: number): Counted =>
  hoursFrom(counts, Math.max(counts.hour, Math.floor(now / HOUR_MS))).reduce(
    (sum, { events, errors }) => ({ events: sum.events + events, errors: sum.errors + errors }),
    NONE,
  );

/** The counts of an hour and of those before it, at most 24. */
const hoursFrom = ({ hour: newest, hours }: HourCounts, hour: number): readonly Counted[] => {
  const later = Math.min(HOURS, newest === 0 ? HOURS : hour - newest);
  return [...Array.from({ length: later }, () => NONE), ...hours].slice(0, HOURS);
};

/** A short text of the counts: `[last event, last error, hour, events, errors, events, …]`. */
export const countsText = ({ lastEventAt, lastErrorAt, hour, hours }: HourCounts): string => {
  const last = hours.findLastIndex(({ events, errors }) => events > 0 || errors > 0);
  const numbers = hours.slice(0, last + 1).flatMap(({ events, errors }) => [events, errors]);
  return JSON.stringify([lastEventAt, lastErrorAt, hour, ...numbers]);
};

/** @param text of `countsText`, or empty for none. */
export const countsIn = (text: string): HourCounts => {
  if (text === '') return NO_COUNTS;
  const [lastEventAt = 0, lastErrorAt = 0, hour = 0, ...numbers] = JSON.parse(text) as readonly number[];
  const hours: Counted[] = [];
  for (let at = 0; at < numbers.length; at += 2) hours.push({ events: numbers[at] ?? 0, errors: numbers[at + 1] ?? 0 });
  return { lastEventAt, lastErrorAt, hour, hours };
};
