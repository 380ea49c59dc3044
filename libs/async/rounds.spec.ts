import { describe, expect, it } from '@jest/globals';
import { Rounds } from './rounds.js';

describe('rounds', () => {
  it('give callers during a round the next one, together', async () => {
    const ends: (() => void)[] = [];
    let begun = 0;
    const rounds = new Rounds(async () => {
      const n = ++begun;
      await new Promise<void>((resolve) => ends.push(resolve));
      return n;
    });
    const first = rounds.run();
    const [second, third] = [rounds.run(), rounds.run()];
    expect(begun).toBe(1);
    ends[0]?.();
    expect(await first).toBe(1);
    await new Promise(setImmediate);
    expect(begun).toBe(2);
    ends[1]?.();
    expect(await Promise.all([second, third])).toEqual([2, 2]);
    const later = rounds.run();
    ends[2]?.();
    expect(await later).toBe(3);
  });

  it('go on after one that failed', async () => {
    let begun = 0;
    const rounds = new Rounds(async () => {
      if (++begun === 1) throw new Error('away');
      return begun;
    });
    const [first, second] = [rounds.run(), rounds.run()];
    await expect(first).rejects.toThrow('away');
    expect(await second).toBe(2);
  });
});
