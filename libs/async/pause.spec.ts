import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { pause, WakeablePause } from './pause.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** Whether the promise has resolved by now. */
const ended = async (work: Promise<void>): Promise<boolean> => Promise.race([work.then(() => true), falseSoon()]);
const falseSoon = async (): Promise<boolean> => {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  return false;
};

describe('pause', () => {
  it('resolves after its time', async () => {
    const waiting = pause(1_000);
    jest.advanceTimersByTime(999);
    expect(await ended(waiting)).toBe(false);
    jest.advanceTimersByTime(1);
    expect(await ended(waiting)).toBe(true);
  });

  it('resolves when the signal aborts, and leaves no timer', async () => {
    const abort = new AbortController();
    const waiting = pause(1_000, abort.signal);
    abort.abort();
    expect(await ended(waiting)).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('resolves at once on an aborted signal', async () => {
    expect(await ended(pause(1_000, AbortSignal.abort()))).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('leaves no listener on a signal that outlives it', async () => {
    const { signal } = new AbortController();
    const removed = jest.spyOn(signal, 'removeEventListener');
    const waiting = pause(10, signal);
    jest.advanceTimersByTime(10);
    await waiting;
    expect(removed).toHaveBeenCalledTimes(1);
  });
});

describe('WakeablePause', () => {
  it('ends after its time or when woken', async () => {
    const timed = new WakeablePause();
    const first = timed.wait(100);
    expect(await ended(first)).toBe(false);
    jest.advanceTimersByTime(100);
    expect(await ended(first)).toBe(true);

    const second = timed.wait(100);
    timed.wake();
    expect(await ended(second)).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('does not lose a wake that comes before the wait, and keeps it for one wait only', async () => {
    const waiting = new WakeablePause();
    waiting.wake();
    expect(await ended(waiting.wait())).toBe(true);
    expect(await ended(waiting.wait())).toBe(false);
  });
});
