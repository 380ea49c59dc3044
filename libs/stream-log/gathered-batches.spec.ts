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

  it('gathers longer the more documents come, also after a burst', () => {
    jest.useFakeTimers();
    try {
      const gathered = new GatheredBatches({ gatherMs: 10, gatherManyMs: 250, onDue: () => undefined });
      /** Goes on for five seconds at this rate. Returns the shortest time between two writes, and the longest. */
      const writing = (perMs: number): readonly [shortest: number, longest: number] => {
        const times: number[] = [];
        for (const start = performance.now(); performance.now() - start < 5_000;) {
          void gathered.add(batchOf('a'), false).catch(() => undefined);
          const before = performance.now();
          jest.advanceTimersToNextTimer();
          gathered.shift();
          times.push(performance.now() - before);
          gathered.wrote(perMs * (performance.now() - before));
        }
        const last = times.slice(Math.floor(times.length / 2));
        return [Math.min(...last), Math.max(...last)];
      };
      expect(writing(0.01)).toEqual([10, 10]);
      expect(writing(0.5)).toEqual([25, 25]);
      expect(writing(3)).toEqual([250, 250]);
      expect(writing(0.5)).toEqual([25, 25]);
      expect(writing(0.01)).toEqual([10, 10]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('is due at the same time as the batches of other read models', () => {
    jest.useFakeTimers();
    try {
      const due: number[] = [];
      const onDue = (): void => void due.push(performance.now());
      for (const laterMs of [1, 3, 4]) {
        jest.advanceTimersByTime(laterMs);
        const gathered = new GatheredBatches({ gatherMs: 50, gatherManyMs: 250, onDue });
        void gathered.add(batchOf('a'), false).catch(() => undefined);
      }
      jest.advanceTimersByTime(100);
      expect(due).toHaveLength(3);
      expect(new Set(due).size).toBe(1);
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
