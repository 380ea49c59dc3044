import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { settled } from './settled.js';

describe('the outcome of an append', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const never = (): Promise<string> => new Promise(() => undefined);
  const nothing = (): Promise<undefined> => Promise.resolve(undefined);

  it('is the answer of the server, without a look at the stream', async () => {
    const find = jest.fn(nothing);
    expect(await settled(Promise.resolve('answer'), find)).toBe('answer');
    expect(find).not.toHaveBeenCalled();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is what the stream shows when the server refuses or fails', async () => {
    expect(await settled(Promise.reject(new Error('aborted')), () => Promise.resolve('found'))).toBe('found');
  });

  it('is the error when the stream does not have the events, or cannot be read', async () => {
    await expect(settled(Promise.reject(new Error('aborted')), nothing)).rejects.toThrow('aborted');
    const unread = (): Promise<undefined> => Promise.reject(new Error('away'));
    await expect(settled(Promise.reject(new Error('aborted')), unread)).rejects.toThrow('aborted');
  });

  it('is found in the stream after a second when no answer comes', async () => {
    let there = false;
    const outcome = settled(never(), () => Promise.resolve(there ? 'found' : undefined));
    await jest.advanceTimersByTimeAsync(1_500);
    there = true;
    await jest.advanceTimersByTimeAsync(2_000);
    expect(await outcome).toBe('found');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is still awaited when the stream shows nothing for long', async () => {
    let answer: (value: string) => void = () => undefined;
    const outcome = settled(new Promise<string>((resolve) => (answer = resolve)), nothing);
    await jest.advanceTimersByTimeAsync(18_000);
    answer('late');
    expect(await outcome).toBe('late');
  });
});
