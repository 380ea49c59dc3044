import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type ConsumeOptions, type LaneBatch, type StoredRecord } from '#libs/stream-log/stream-log.js';
import { FetchBudget } from './fetch-budget.js';
import { LaneWindow } from './lane-window.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const stored = (offset: number): StoredRecord => ({
  topic: 't',
  lane: 't',
  key: 'k',
  headers: {},
  value: '{}',
  offset,
  timestamp: 0,
  size: 10,
});

const opened = (handler: ConsumeOptions['handler']) => {
  const committed: number[] = [];
  let failures = 0;
  const options = { group: 'g', topics: { names: ['t'] }, maxBatch: 10, maxUnacked: 10, handler };
  const window: LaneWindow = new LaneWindow('t', 't', options, new FetchBudget(), {
    ready: () => {
      if (window.isFree) window.handAgain();
    },
    acknowledged: () => undefined,
    committed: (offset) => committed.push(offset),
    failed: () => failures++,
  });
  return { window, committed, failures: () => failures };
};

describe('LaneWindow', () => {
  it('hands a rejected batch over again after 100 ms, then after twice as long each time up to 10 s', async () => {
    const times: number[] = [];
    const { window, failures } = opened(() => {
      times.push(Date.now());
      return Promise.reject(new Error('broken'));
    });
    window.handOver([stored(0)]);
    await jest.advanceTimersByTimeAsync(45_000);
    const pauses = times.slice(1).map((time, n) => time - (times[n] ?? 0));
    expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000]);
    expect(failures()).toBe(times.length);
    window.revoke();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('begins with the first pause again after a success', async () => {
    const times: number[] = [];
    const results = [false, false, true, false, true];
    const { window } = opened(() => {
      times.push(Date.now());
      return results.shift() ? Promise.resolve() : Promise.reject(new Error('broken'));
    });
    window.handOver([stored(0)]);
    await jest.advanceTimersByTimeAsync(300);
    expect(times).toHaveLength(3);
    window.handOver([stored(1)]);
    const failed = Date.now();
    await jest.advanceTimersByTimeAsync(100);
    expect(times.at(-1)).toBe(failed + 100);
  });

  it('commits up to the first gap', () => {
    const batches: LaneBatch[] = [];
    const { window, committed } = opened((batch) => {
      batches.push(batch);
      return Promise.resolve();
    });
    window.handOver([stored(0), stored(3), stored(4)]);
    for (const offset of [3, 0, 0, 4]) batches[0]?.ack(offset);
    expect(committed).toEqual([3, 4]);
    expect([window.unackedCount, window.unackedBytes]).toEqual([0, 0]);
  });
});
