import { describe, expect, it } from '@jest/globals';
import { countedInDay, countsIn, countsText, type HourCounts, NO_COUNTS, withCounted } from './hour-counts.js';

const HOUR = 3_600_000;
const T0 = 490_000 * HOUR;
const counted = (...commits: (readonly [at: number, events: number, errors: number])[]): HourCounts =>
  commits.reduce(
    (counts, [at, events, errors]) => countsIn(countsText(withCounted(counts, at, { events, errors }))),
    NO_COUNTS,
  );

describe('the counts of hours', () => {
  it('are those of this hour and the 23 before', () => {
    const counts = counted([T0, 5, 1], [T0 + HOUR / 2, 1, 0], [T0 + 3 * HOUR, 2, 0], [T0 + 23 * HOUR, 1, 1]);
    expect(countedInDay(counts, T0 + 23 * HOUR)).toEqual({ events: 9, errors: 2 });
    expect(countedInDay(counts, T0 + 24 * HOUR)).toEqual({ events: 3, errors: 1 });
    expect(countedInDay(counts, T0 + 60 * HOUR)).toEqual({ events: 0, errors: 0 });
    expect(counts).toMatchObject({ lastEventAt: T0 + 23 * HOUR, lastErrorAt: T0 + 23 * HOUR });
  });

  it('keep the time of the last event and error, however long ago', () => {
    const counts = counted([T0, 1, 0], [T0 + 5, 0, 1], [T0 + 99 * HOUR, 0, 0]);
    expect(counts).toMatchObject({ lastEventAt: T0, lastErrorAt: T0 + 5 });
    expect(countsText(counts)).toBe(`[${T0},${T0 + 5},490099]`);
  });

  it('count in the newest hour when the clock is set back', () => {
    const counts = counted([T0 + 2 * HOUR, 1, 0], [T0, 1, 0]);
    expect(countedInDay(counts, T0 + 2 * HOUR)).toEqual({ events: 2, errors: 0 });
    expect(countedInDay(counts, T0)).toEqual({ events: 2, errors: 0 });
  });

  it('are short, and never of more than 24 hours', () => {
    const always = Array.from({ length: 100 }, (_, n) => [T0 + n * HOUR, 1_000_000, 1] as const);
    const counts = counted(...always);
    expect(countedInDay(counts, T0 + 99 * HOUR)).toEqual({ events: 24_000_000, errors: 24 });
    expect(countsText(counts).length).toBeLessThan(300);
    expect(countsIn('')).toEqual(NO_COUNTS);
  });
});
