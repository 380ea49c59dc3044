import { describe, expect, it } from '@jest/globals';
import { AppliedWaiters } from './applied-waiters.js';

const LONG = 60_000;

describe('AppliedWaiters', () => {
  it('wakes those whose record is applied, and leaves the others', async () => {
    const waiters = new AppliedWaiters();
    const [first, second, other] = [waiters.wait('a', 1, LONG), waiters.wait('a', 2, LONG), waiters.wait('b', 0, LONG)];
    waiters.wake((lane) => (lane === 'a' ? 1 : undefined));
    expect(await first).toBe(true);
    expect(waiters.size).toBe(2);
    waiters.wake(() => 5);
    expect(await Promise.all([second, other])).toEqual([true, true]);
    expect(waiters.size).toBe(0);
  });

  it('resolves to false after the time limit, and for all callers after giveUp', async () => {
    const waiters = new AppliedWaiters();
    const [soon, late] = [waiters.wait('a', 1, 1), waiters.wait('a', 1, LONG)];
    expect(await soon).toBe(false);
    expect(waiters.size).toBe(1);
    waiters.giveUp();
    expect(await late).toBe(false);
    expect(waiters.size).toBe(0);
  });
});
