import { describe, expect, it } from '@jest/globals';
import { flatness, median } from './memory.js';

describe('median', () => {
  it('takes the middle, or the mean of the two in the middle', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([])).toBeNaN();
  });
});

describe('flatness', () => {
  const samples = (mainMb: (second: number) => number) =>
    Array.from({ length: 60 }, (_, n) => ({ second: n * 5, mainMb: mainMb(n * 5), childrenMb: 40 }));

  it('finds no growth after the first fifth', () => {
    expect(flatness(samples((second) => (second < 60 ? second : 100)))).toEqual({
      earlyMb: 140,
      lateMb: 140,
      mbPerMinute: 0,
    });
  });

  it('finds a steady growth', () => {
    const { earlyMb, lateMb, mbPerMinute } = flatness(samples((second) => 100 + second / 10));
    expect(mbPerMinute).toBeCloseTo(6);
    expect(lateMb - earlyMb).toBeCloseTo(18);
  });
});
