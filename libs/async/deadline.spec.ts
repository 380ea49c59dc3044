import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DeadlineExceeded, endsWithin, withDeadline } from './deadline.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const never = new Promise<string>(() => undefined);

describe('withDeadline', () => {
  it('settles as work that is in time, and leaves no timer', async () => {
    await expect(withDeadline(Promise.resolve('done'), 100, 'it')).resolves.toBe('done');
    await expect(withDeadline(Promise.reject(new Error('broken')), 100, 'it')).rejects.toThrow('broken');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('rejects when the time is over, naming the operation and the limit', async () => {
    const waiting = withDeadline(never, 100, 'the store');
    jest.advanceTimersByTime(100);
    await expect(waiting).rejects.toThrow(new DeadlineExceeded('the store', 100));
    await expect(waiting).rejects.toThrow('the store: no answer within 100 ms');
  });

  it('rejects with the error of the caller', async () => {
    const waiting = withDeadline(never, 100, () => new RangeError('own'));
    jest.advanceTimersByTime(100);
    await expect(waiting).rejects.toThrow(RangeError);
  });

  it('ignores a failure after the deadline', async () => {
    let fail: (error: Error) => void = () => undefined;
    const waiting = withDeadline(new Promise<void>((_, reject) => (fail = reject)), 100, 'it');
    jest.advanceTimersByTime(100);
    await expect(waiting).rejects.toThrow(DeadlineExceeded);
    // An unhandled rejection would fail the test run.
    fail(new Error('too late'));
  });
});

describe('endsWithin', () => {
  it('tells whether the work ended in time', async () => {
    await expect(endsWithin(Promise.resolve(undefined), 100)).resolves.toBe(true);
    const waiting = endsWithin(never, 100);
    jest.advanceTimersByTime(100);
    await expect(waiting).resolves.toBe(false);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('rejects if the work does', async () => {
    await expect(endsWithin(Promise.reject(new Error('broken')), 100)).rejects.toThrow('broken');
  });
});
