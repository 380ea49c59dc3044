import { describe, expect, it } from '@jest/globals';
import { KeyedMutex, SerialQueue } from './serial-queue.js';

/** A work whose end the test decides. */
const held = (log: string[], name: string) => {
  let end: (error?: Error) => void = () => undefined;
  const gate = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve());
  });
  return {
    end: (error?: Error) => end(error),
    work: async (): Promise<string> => {
      log.push(`${name} starts`);
      await gate.finally(() => log.push(`${name} ends`));
      return name;
    },
  };
};

describe('SerialQueue', () => {
  it('starts the first work within the call, and each next one after the end of the one before', async () => {
    const log: string[] = [];
    const queue = new SerialQueue();
    const [a, b] = [held(log, 'a'), held(log, 'b')];
    const first = queue.run(a.work);
    const second = queue.run(b.work);
    expect(log).toEqual(['a starts']);
    expect(queue.size).toBe(2);
    b.end();
    a.end();
    expect([await first, await second]).toEqual(['a', 'b']);
    await queue.idle();
    expect(log).toEqual(['a starts', 'a ends', 'b starts', 'b ends']);
    expect(queue.size).toBe(0);
  });

  it('runs the next work after one that rejects or throws', async () => {
    const queue = new SerialQueue();
    const thrown = queue.run(() => {
      throw new Error('thrown');
    });
    const rejected = queue.run(() => Promise.reject(new Error('rejected')));
    const fine = queue.run(() => Promise.resolve('fine'));
    await expect(thrown).rejects.toThrow('thrown');
    await expect(rejected).rejects.toThrow('rejected');
    await expect(fine).resolves.toBe('fine');
    await expect(queue.idle()).resolves.toBeUndefined();
  });

  it('does not let a work that comes in the turn of an end overtake a waiting one', async () => {
    const log: string[] = [];
    const queue = new SerialQueue();
    const a = held(log, 'a');
    const first = queue.run(a.work);
    const second = queue.run(() => Promise.resolve(log.push('b')));
    const third = first.then(() => queue.run(() => Promise.resolve(log.push('c'))));
    a.end();
    await Promise.all([second, third]);
    expect(log).toEqual(['a starts', 'a ends', 'b', 'c']);
  });
});

describe('KeyedMutex', () => {
  it('serialises the works of one key, and runs those of others side by side', async () => {
    const log: string[] = [];
    const mutex = new KeyedMutex();
    const [a, b, c] = [held(log, 'a'), held(log, 'b'), held(log, 'c')];
    const all = [mutex.run('x', a.work), mutex.run('x', b.work), mutex.run('y', c.work)];
    expect(log).toEqual(['a starts', 'c starts']);
    expect(mutex.size).toBe(2);
    for (const each of [c, a, b]) each.end();
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c']);
    expect(log.indexOf('b starts')).toBeGreaterThan(log.indexOf('a ends'));
  });

  it('keeps no key whose works have ended, also when they failed', async () => {
    const mutex = new KeyedMutex();
    await mutex.run('x', () => Promise.resolve());
    await expect(mutex.run('x', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await new Promise((resolve) => setImmediate(resolve));
    expect(mutex.size).toBe(0);
  });
});
