import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DeadlineExceeded } from '#libs/async/deadline.js';
import { Outage, repeated } from './repeated.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

describe('repeated', () => {
  const fails = (): Promise<never> => Promise.reject(new Error('lost'));
  const SECOND = 1_000;

  it('tries for as long as an election takes, then rejects with the last failure', async () => {
    let attempts = 0;
    const done = repeated(new Outage(), () => Promise.reject(new Error(`failure ${++attempts}`)));
    const refused = expect(done).rejects.toThrow(/failure 2\d/);
    await jest.advanceTimersByTimeAsync(18 * SECOND);
    expect(jest.getTimerCount()).toBe(1);
    await jest.advanceTimersByTimeAsync(2 * SECOND);
    await refused;
    expect(jest.getTimerCount()).toBe(0);
  });

  it('resolves with the first result', async () => {
    let attempts = 0;
    const work = (): Promise<number> => (++attempts < 3 ? fails() : Promise.resolve(attempts));
    const done = repeated(new Outage(), work);
    await jest.advanceTimersByTimeAsync(150);
    await expect(done).resolves.toBe(3);
  });

  it('tries for about three seconds when the server has been away for longer, until a call succeeds', async () => {
    const outage = new Outage();
    const first = expect(repeated(outage, fails)).rejects.toThrow('lost');
    await jest.advanceTimersByTimeAsync(30 * SECOND);
    await first;
    const second = expect(repeated(outage, fails)).rejects.toThrow('lost');
    await jest.advanceTimersByTimeAsync(3 * SECOND);
    await second;
    expect(jest.getTimerCount()).toBe(0);
    await repeated(outage, () => Promise.resolve());
    const third = expect(repeated(outage, fails)).rejects.toThrow('lost');
    await jest.advanceTimersByTimeAsync(10 * SECOND);
    expect(jest.getTimerCount()).toBe(1);
    await jest.advanceTimersByTimeAsync(10 * SECOND);
    await third;
  });

  it('does not retry what took too long', async () => {
    let attempts = 0;
    const late = (): Promise<never> => {
      attempts++;
      return Promise.reject(new DeadlineExceeded('append to count-1', 22_000));
    };
    await expect(repeated(new Outage(), late)).rejects.toThrow('append to count-1: no answer within 22000 ms');
    expect(attempts).toBe(1);
  });
});
