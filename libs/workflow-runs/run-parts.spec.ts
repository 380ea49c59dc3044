import { describe, expect, it } from '@jest/globals';
import { type RunParts, changedParts, partOf, withRecent } from './run-parts.js';

const item = (n: number): string => `item/a/${n}`;

describe('the texts of items', () => {
  it('copy the names of all others once for many outcomes, and are read and stored as any part', () => {
    let run: RunParts = { parts: { origin: '{}' } };
    const sets = new Set([run.parts]);
    for (let n = 0; n < 1_000; n++) {
      const before = run;
      run = withRecent(run, item(n), String(n));
      expect(changedParts(before, run)).toEqual({ [item(n)]: String(n) });
      sets.add(run.parts);
    }
    expect(sets.size).toBeLessThan(20);
    expect([0, 500, 999].map((n) => partOf(run, item(n)))).toEqual(['0', '500', '999']);
    expect(Object.keys(changedParts({ parts: {} }, run))).toHaveLength(1_001);
  });

  it('replace those of an earlier attempt', () => {
    const first = withRecent({ parts: { [item(0)]: 'old', [item(1)]: 'kept' } }, item(0), 'new');
    expect([partOf(first, item(0)), partOf(first, item(1)), partOf(first, item(2))]).toEqual([
      'new',
      'kept',
      undefined,
    ]);
    const second = withRecent(first, item(0), 'newer');
    expect(changedParts(first, second)).toEqual({ [item(0)]: 'newer' });
  });

  it('stay beside parts that go and come', () => {
    const before = withRecent({ parts: { list: '[1]', [item(0)]: 'old' } }, item(0), 'new');
    const after = { ...before, parts: { [item(0)]: 'old', step: '{}' } };
    expect(changedParts(before, after)).toEqual({ list: null, step: '{}' });
  });
});
