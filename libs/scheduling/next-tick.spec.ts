import { describe, expect, it } from '@jest/globals';
import { type Timer } from '#libs/sources/published.js';
import { firstDue, nextTick } from './next-tick.js';

const at = (iso: string): number => Date.parse(iso);
const every = (seconds: number): Timer => ({
  kind: 'timer',
  prop: 'timer',
  cron: null,
  intervalSeconds: seconds,
  timezone: null,
});
const cron = (pattern: string, timezone: string | null = null): Timer => ({
  kind: 'timer',
  prop: 'timer',
  cron: pattern,
  intervalSeconds: null,
  timezone,
});

describe('nextTick of an interval', () => {
  const since = 1_700_000_000_123;
  it.each([
    ['right after it was armed', 0, 60_000],
    ['before it was armed', -5_000, 60_000],
    ['just before a tick', 59_999, 60_000],
    ['at a tick', 60_000, 120_000],
    ['a little late', 60_007, 120_000],
    ['after many were missed', 3_600_001, 3_660_000],
  ])('%s', (_, after, expected) => {
    expect(nextTick(every(60), since, since + after)).toBe(since + expected);
  });

  it('does not drift, although each tick is late', () => {
    let now = since;
    for (let i = 1; i <= 1_000; i++) {
      const next = nextTick(every(15), since, now) ?? 0;
      expect(next).toBe(since + i * 15_000);
      now = next + 13;
    }
  });

  it('never ticks with an invalid interval', () => {
    expect(nextTick(every(0), since, since)).toBeUndefined();
    expect(nextTick({ ...every(15), intervalSeconds: null }, since, since)).toBeUndefined();
  });
});

describe('nextTick of a cron', () => {
  const ticks = (timer: Timer, from: string, count: number): string[] => {
    const out: string[] = [];
    let now = at(from);
    while (out.length < count) {
      now = nextTick(timer, 0, now) ?? 0;
      out.push(new Date(now).toISOString().slice(0, 16));
    }
    return out;
  };

  it.each<[name: string, timer: Timer, from: string, expected: string[]]>([
    ['UTC without a time zone', cron('0 9 * * *'), '2024-03-09T12:00:00Z', ['2024-03-10T09:00', '2024-03-11T09:00']],
    ['weekdays by name', cron('30 8 * * MON-FRI'), '2024-03-08T12:00:00Z', ['2024-03-11T08:30', '2024-03-12T08:30']],
    ['six fields, with seconds', cron('30 0 9 * * *'), '2024-03-09T12:00:00Z', ['2024-03-10T09:00']],
    [
      'a daily time over the start of summer time follows the wall clock',
      cron('0 9 * * *', 'Europe/Berlin'),
      '2024-03-30T09:00:00Z',
      ['2024-03-31T07:00', '2024-04-01T07:00'],
    ],
    [
      'a time that the clocks skip ticks once they have moved on',
      cron('30 2 * * *', 'America/New_York'),
      '2024-03-09T12:00:00Z',
      ['2024-03-10T07:00', '2024-03-11T06:30'],
    ],
    [
      'a time that the clocks repeat ticks once',
      cron('30 1 * * *', 'America/New_York'),
      '2024-11-02T12:00:00Z',
      ['2024-11-03T05:30', '2024-11-04T06:30'],
    ],
    [
      'every hour ticks in the repeated hour too',
      cron('0 * * * *', 'America/New_York'),
      '2024-11-03T04:30:00Z',
      ['2024-11-03T05:00', '2024-11-03T06:00', '2024-11-03T07:00'],
    ],
    [
      'every half hour ticks without a gap over the skipped hour',
      cron('*/30 * * * *', 'America/New_York'),
      '2024-03-10T06:10:00Z',
      ['2024-03-10T06:30', '2024-03-10T07:00', '2024-03-10T07:30'],
    ],
    ['a leap day', cron('0 0 29 2 *'), '2024-03-01T00:00:00Z', ['2028-02-29T00:00']],
  ])('%s', (_, timer, from, expected) => {
    expect(ticks(timer, from, expected.length)).toEqual(expected);
  });

  it('is strictly after, so a tick late by milliseconds does not repeat', () => {
    const daily = cron('0 9 * * *');
    expect(nextTick(daily, 0, at('2024-03-10T09:00:00.000Z'))).toBe(at('2024-03-11T09:00:00Z'));
    expect(nextTick(daily, 0, at('2024-03-10T09:00:00.004Z'))).toBe(at('2024-03-11T09:00:00Z'));
    expect(nextTick(daily, 0, at('2024-03-10T08:59:59.999Z'))).toBe(at('2024-03-10T09:00:00Z'));
  });

  it('is undefined when there is no such day', () => {
    expect(nextTick(cron('0 0 30 2 *'), 0, at('2024-03-01T00:00:00Z'))).toBeUndefined();
  });
});

describe('firstDue', () => {
  const since = at('2024-03-10T10:00:00Z');
  it.each<[name: string, timer: Timer, last: number | undefined, atOnce: boolean, expected: number]>([
    ['an interval ticks at once on the deployment', every(60), undefined, true, since],
    ['an interval waits otherwise', every(60), undefined, false, since + 60_000],
    ['a cron always waits', cron('0 * * * *'), undefined, true, at('2024-03-10T11:00:00Z')],
    ['a tick from before it was armed does not count', every(60), since - 1, true, since],
    ['after a restart it continues from the last tick', every(60), since + 60_004, true, since + 120_000],
    ['a tick published at once is not published again', every(60), since, true, since + 60_000],
    [
      'of missed ticks only the earliest is owed',
      cron('0 * * * *'),
      at('2024-03-10T11:00:01Z'),
      false,
      at('2024-03-10T12:00:00Z'),
    ],
  ])('%s', (_, timer, last, atOnce, expected) => {
    expect(firstDue(timer, since, last, atOnce)).toBe(expected);
  });
});

// docs/reference/component-model.md#timer-missed
describe('a pause of the scheduler', () => {
  const timer = every(15);
  it.each([
    ['shorter than the interval leaves no tick out', 14_000, [15_000, 30_000, 45_000]],
    ['longer than it leaves out what became due after the first late tick', 20_000, [15_000, 30_000, 60_000]],
  ])('%s', (_, pauseMs, expected) => {
    // Tick 1 came in time. The pause begins a second before tick 2.
    const late = firstDue(timer, 0, 15_000, false);
    expect([15_000, late, nextTick(timer, 0, 29_000 + pauseMs)]).toEqual(expected);
  });
});
