import { describe, expect, it } from '@jest/globals';
import { Semaphore } from './semaphore.js';

/** Asks for slots in this order and returns the order in which they were assigned. */
const given = (semaphore: Semaphore, keys: readonly string[]): string[] => {
  const order: string[] = [];
  keys.forEach((key, n) => void semaphore.acquire(key).then(() => order.push(`${key}${n}`)));
  return order;
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('Semaphore', () => {
  it('gives its slots at once and no more than there are', () => {
    const semaphore = new Semaphore(2);
    expect([semaphore.tryAcquire('a'), semaphore.tryAcquire('a'), semaphore.tryAcquire('b')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(semaphore.inUse).toBe(2);
    semaphore.release('a');
    expect(semaphore.tryAcquire('b')).toBe(true);
  });

  it('lets waiting keys take turns', async () => {
    const semaphore = new Semaphore(1);
    semaphore.tryAcquire('first');
    const order = given(semaphore, ['a', 'a', 'a', 'b', 'c']);
    for (const key of ['first', 'a', 'b', 'c', 'a']) {
      semaphore.release(key);
      await turn();
    }
    expect(order).toEqual(['a0', 'b3', 'c4', 'a1', 'a2']);
  });

  it('lets no key hold more than its limit, and passes a slot on to another', async () => {
    const semaphore = new Semaphore(4, (key) => (key === 'slow' ? 2 : 4));
    const order = given(semaphore, ['slow', 'slow', 'slow', 'fast', 'fast', 'fast']);
    await turn();
    expect(order).toEqual(['slow0', 'slow1', 'fast3', 'fast4']);
    semaphore.release('fast');
    await turn();
    expect(order.slice(4)).toEqual(['fast5']);
    semaphore.release('slow');
    await turn();
    expect(order.slice(5)).toEqual(['slow2']);
  });

  it('does not let a new caller overtake the work that a slot was passed on to', async () => {
    const semaphore = new Semaphore(1);
    await semaphore.acquire('a');
    const order = given(semaphore, ['b']);
    semaphore.release('a');
    expect(semaphore.tryAcquire('c')).toBe(false);
    await turn();
    expect(order).toEqual(['b0']);
  });

  it('returns the slot of a work that fails', async () => {
    const semaphore = new Semaphore(1);
    await expect(semaphore.run('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(semaphore.run('a', () => Promise.resolve('fine'))).resolves.toBe('fine');
    expect(semaphore.inUse).toBe(0);
  });
});
