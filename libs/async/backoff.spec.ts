import { describe, expect, it } from '@jest/globals';
import { Backoff } from './backoff.js';

const pauses = (backoff: Backoff, count: number): number[] => Array.from({ length: count }, () => backoff.next());

describe('Backoff', () => {
  it('doubles each pause up to the longest', () => {
    const backoff = new Backoff({ firstMs: 50, longestMs: 500 });
    expect(pauses(backoff, 6)).toEqual([50, 100, 200, 400, 500, 500]);
    expect(backoff.count).toBe(6);
  });

  it('starts again after a reset', () => {
    const backoff = new Backoff({ firstMs: 10, longestMs: 1_000 });
    pauses(backoff, 3);
    backoff.reset();
    expect(backoff.count).toBe(0);
    expect(pauses(backoff, 2)).toEqual([10, 20]);
  });

  it('stays at the longest after thousands of failures', () => {
    const backoff = new Backoff({ firstMs: 1, longestMs: 30_000 });
    expect(pauses(backoff, 5_000).at(-1)).toBe(30_000);
    expect(new Set(pauses(new Backoff({ firstMs: 0, longestMs: 100 }), 2_000))).toEqual(new Set([0]));
  });

  it('takes the random share off each pause', () => {
    const draws = [0, 0.5, 0.999];
    const backoff = new Backoff({ firstMs: 100, longestMs: 100, jitter: 0.5, random: () => draws.shift() ?? 0 });
    expect(pauses(backoff, 3).map(Math.round)).toEqual([100, 75, 50]);
  });
});
