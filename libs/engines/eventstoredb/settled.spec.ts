import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { settled, type Look } from './settled.js';

describe('the outcome of an append', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const never = (): Promise<string> => new Promise(() => undefined);
  const nothing = (): Promise<Look<string>> => Promise.resolve('nothing yet');
  const found = (): Promise<Look<string>> => Promise.resolve({ found: 'found' });

  it('is the answer of the server, without a look at the stream', async () => {
    const look = jest.fn(nothing);
    expect(await settled(Promise.resolve('answer'), look)).toBe('answer');
    expect(look).not.toHaveBeenCalled();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is what the stream shows when the server refuses or fails, at once or a moment later', async () => {
    expect(await settled(Promise.reject(new Error('aborted')), found)).toBe('found');
    let looks = 0;
    const later = settled(Promise.reject(new Error('aborted')), () => (++looks < 3 ? nothing() : found()));
    await jest.advanceTimersByTimeAsync(100);
    expect(await later).toBe('found');
  });

  it('is the error at once when the stream has other events', async () => {
    const look = jest.fn((): Promise<Look<string>> => Promise.resolve('other events'));
    await expect(settled(Promise.reject(new Error('conflict')), look)).rejects.toThrow('conflict');
    expect(look).toHaveBeenCalledTimes(1);
  });

  it.each<[string, () => Promise<Look<string>>]>([
    ['does not have the events', nothing],
    ['cannot be read', () => Promise.reject(new Error('away'))],
  ])('is the error when the stream %s', async (_, look) => {
    const outcome = expect(settled(Promise.reject(new Error('aborted')), look)).rejects.toThrow('aborted');
    await jest.advanceTimersByTimeAsync(1_000);
    await outcome;
  });

  it('is found in the stream after a second when no answer comes', async () => {
    let there = false;
    const outcome = settled(never(), () => (there ? found() : nothing()));
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
