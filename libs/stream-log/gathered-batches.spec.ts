import { describe, expect, it, jest } from '@jest/globals';
import { GatheredBatches } from './gathered-batches.js';
import { type LaneBatch } from './stream-log.js';

const LONG = 60_000;

const batchOf = (...values: readonly string[]): LaneBatch => ({
  lane: 'l',
  topic: 't',
  records: values.map((value, offset) => ({
    topic: 't',
    lane: 'l',
    key: 'k',
    headers: {},
    value,
    offset,
    timestamp: 0,
    size: 0,
  })),
  ack: () => undefined,
  revoked: () => false,
});

const gathering = (gatherMs: number) => {
  const took: number[] = [];
  let onTake: () => void = () => undefined;
  const gathered = new GatheredBatches({
    gatherMs,
    gatherManyMs: gatherMs,
    onDue: () => {
      const removed = gathered.shift();
      took.push(removed.length);
      for (const { resolve } of removed) resolve();
      onTake();
    },
  });
  return { gathered, took, onTake: (then: () => void) => (onTake = then) };
};

describe('GatheredBatches', () => {
  it('gathers the batches that come before the write is due', async () => {
    const { gathered, took } = gathering(1);
    await Promise.all([gathered.add(batchOf('a'), false), gathered.add(batchOf('b'), false)]);
    expect(took).toEqual([2]);
  });

  it('is due now for a batch that somebody waits for, and when hurried', async () => {
    const { gathered, took } = gathering(LONG);
    await gathered.add(batchOf('a'), true);
    const second = gathered.add(batchOf('b'), false);
    gathered.hurry();
    await second;
    expect(took).toEqual([1, 1]);
  });

  it('takes no more characters at once than one write may hold, but at least one batch', async () => {
    const { gathered, took, onTake } = gathering(LONG);
    onTake(() => gathered.hurry());
    const large = 'x'.repeat(3 << 20);
    const all = [large, large + large, 'a', 'b'].map((value) => gathered.add(batchOf(value), false));
    gathered.hurry();
    await Promise.all(all);
    expect(took).toEqual([1, 1, 2]);
  });

  it('pauses briefly at 500 records a second, also after a burst, and longer at 3,000', () => {
    jest.useFakeTimers();
    try {
      const pauses: number[] = [];
      const gathered = new GatheredBatches({ gatherMs: 10, gatherManyMs: 250, onDue: () => undefined });
      const write = (records: number): void => {
        void gathered.add(batchOf('a'), false).catch(() => undefined);
        const before = performance.now();
        jest.advanceTimersToNextTimer();
        pauses.push(performance.now() - before);
        gathered.shift();
        gathered.wrote(records);
        jest.advanceTimersByTime(10);
      };
      for (let n = 0; n < 100; n++) write(n % 10 === 0 ? 60 : 4);
      expect(new Set(pauses)).toEqual(new Set([10]));
      for (let n = 0; n < 100; n++) write(3 * ((pauses.at(-1) ?? 0) + 10));
      expect(pauses.at(-1)).toBe(250);
      for (let n = 0; n < 100; n++) write(1);
      expect(pauses.at(-1)).toBe(10);
    } finally {
      jest.useRealTimers();
    }
  });

  it('rejects the batches that are left when it stops, and is due no more', async () => {
    const { gathered, took } = gathering(1);
    const left = gathered.add(batchOf('a'), false);
    gathered.stop(new Error('stopping'));
    gathered.hurry();
    await expect(left).rejects.toThrow('stopping');
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(took).toEqual([]);
  });
});
