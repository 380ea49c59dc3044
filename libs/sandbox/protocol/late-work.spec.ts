import { describe, expect, it } from '@jest/globals';
import { LATE_KINDS, NO_RUN, ToldOnce } from './late-work.js';

describe('what was reported on runs that had ended', () => {
  it('counts once for a run and kind', () => {
    const told = new ToldOnce();
    const first = (n: number) => LATE_KINDS.map((kind) => told.isFirst(n, kind));
    expect([first(1), first(2), first(1)]).toEqual([
      LATE_KINDS.map(() => true),
      LATE_KINDS.map(() => true),
      LATE_KINDS.map(() => false),
    ]);
  });

  it('stays bounded: what was forgotten counts as told, and what belongs to no run is never forgotten', () => {
    const told = new ToldOnce();
    told.isFirst(NO_RUN, 'error');
    for (let n = 1; n <= 5_000; n++) expect(told.isFirst(n, 'emit')).toBe(true);
    expect([1, 3_000, 5_000].map((n) => told.isFirst(n, 'emit'))).toEqual([false, false, false]);
    expect([told.isFirst(1, 'db'), told.isFirst(5_000, 'db'), told.isFirst(5_001, 'emit')]).toEqual([
      false,
      true,
      true,
    ]);
    expect([told.isFirst(NO_RUN, 'error'), told.isFirst(NO_RUN, 'emit')]).toEqual([false, true]);
    expect((told as unknown as { kinds: Map<number, number> }).kinds.size).toBeLessThanOrEqual(1_025);
  });
});
