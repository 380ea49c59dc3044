import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DeadlineExceeded } from '#libs/async/deadline.js';
import { repeated } from './repeated.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

describe('repeated', () => {
  it('retries for about three seconds, then rejects with the last failure', async () => {
    let attempts = 0;
    const done = repeated(() => Promise.reject(new Error(`failure ${++attempts}`)));
    const refused = expect(done).rejects.toThrow('failure 7');
    await jest.advanceTimersByTimeAsync(3_149);
    expect(attempts).toBe(6);
    await jest.advanceTimersByTimeAsync(1);
    await refused;
    expect(jest.getTimerCount()).toBe(0);
  });

  it('resolves with the first result', async () => {
    let attempts = 0;
    const done = repeated(() => (++attempts < 3 ? Promise.reject(new Error('lost')) : Promise.resolve(attempts)));
    await jest.advanceTimersByTimeAsync(150);
    await expect(done).resolves.toBe(3);
  });

  it('does not retry what took too long', async () => {
    let attempts = 0;
    const late = (): Promise<never> => {
      attempts++;
      return Promise.reject(new DeadlineExceeded('append to count-1', 22_000));
    };
    await expect(repeated(late)).rejects.toThrow('append to count-1: no answer within 22000 ms');
    expect(attempts).toBe(1);
  });
});
