import { describe, expect, it } from '@jest/globals';
import { Totals } from './totals.js';

describe('the total of a list', () => {
  const setUp = () => {
    const totals = new Totals();
    let counts = 0;
    const total = (collection: string, query: readonly unknown[], size: number): number =>
      totals.of(collection, query, () => {
        counts++;
        return size;
      });
    return { totals, total, counts: () => counts };
  };

  it('is counted once for each query, until the collection is written to', () => {
    const { totals, total, counts } = setUp();
    expect([total('a', ['x', 1], 5), total('a', ['x', 1], 6), total('a', ['x', '1'], 7)]).toEqual([5, 5, 7]);
    totals.changed('b');
    expect(total('a', ['x', 1], 8)).toBe(5);
    totals.changed('a');
    expect(total('a', ['x', 1], 9)).toBe(9);
    expect(counts()).toBe(3);
  });

  it('that was counted during a write is counted again after it', () => {
    const { totals, total } = setUp();
    totals.changed('a');
    expect(total('a', [], 1)).toBe(1);
    totals.changed('a');
    expect(total('a', [], 2)).toBe(2);
  });

  it('is remembered for queries up to a bounded number of bytes', () => {
    const { total, counts } = setUp();
    for (let n = 0; n < 2_500; n++) total('a', [n], n);
    expect(total('a', [2_499], 0)).toBe(2_499);
    expect(total('a', [0], 7)).toBe(7);
    expect(counts()).toBe(2_501);
  });
});
