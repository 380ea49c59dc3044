import { describe, expect, it } from '@jest/globals';
import { countsOfAttempts, packAttempts } from '#libs/stream-log/attempt-records.js';
import { countedInDay, countsIn } from '#libs/stream-log/hour-counts.js';
import { attemptAt } from '#libs/stream-log/testing/attempts.js';
import { DeliveryCounts } from './delivery-counts.js';

const T0 = 490_000 * 3_600_000;

describe('the counts of deliveries', () => {
  it('are by webhook and final outcome, and do not change with later attempts', () => {
    const counts = new DeliveryCounts('proc_1');
    const first = counts.with('wh_1', 'success', T0);
    counts.with('wh_2', 'final', T0);
    const last = (['retry', 'final', 'success'] as const).map((outcome) => counts.with('wh_1', outcome, T0 + 1)).at(-1);
    const inDay = (text = '') => countedInDay(countsIn(text), T0);
    expect(inDay(first.text())).toEqual({ events: 1, errors: 0 });
    expect(inDay(last?.text())).toEqual({ events: 2, errors: 1 });
    expect([first.epoch, inDay(counts.with('wh_2', 'retry', T0).text())]).toEqual(['proc_1', { events: 0, errors: 1 }]);
  });

  it('stand in a record of several attempts as of the newest', () => {
    const counts = new DeliveryCounts('proc_1');
    const attempts = [1, 2, 3].map((n) => attemptAt(n, { counts: counts.with('wh_1', 'success', T0) }));
    const of = (count: number) => packAttempts(attempts.slice(0, count)).map(({ record }) => countsOfAttempts(record));
    expect(of(1)).toEqual([{ epoch: 'proc_1', counts: `[${T0},0,490000,1,0]` }]);
    expect(of(3)).toEqual([{ epoch: 'proc_1', counts: `[${T0},0,490000,3,0]` }]);
    expect(packAttempts([attemptAt(1)]).map(({ record }) => countsOfAttempts(record))).toEqual([undefined]);
  });
});
