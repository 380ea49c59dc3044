import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { GatheredBatches, type GatheringOptions } from './gathered-batches.js';
import { type LaneBatch, type StoredRecord } from './stream-log.js';

const LONG = 60_000;

const recordOf = (lane: string, value: string, offset: number): StoredRecord => ({
  topic: 't',
  lane,
  key: 'k',
  headers: {},
  value,
  offset,
  timestamp: 0,
  size: 0,
});

const batchOf = (lane: string, values: readonly string[], from = 0, acked: number[] = []): LaneBatch => ({
  lane,
  topic: 't',
  records: values.map((value, index) => recordOf(lane, value, from + index)),
  ack: (offset) => void acked.push(offset),
  revoked: () => false,
});

const all: GatheringOptions['newest'] = (_, records) => records;

const gathering = (options: Partial<GatheringOptions> & { readonly gatherMs: number }) => {
  const took: string[][] = [];
  const gathered: GatheredBatches = new GatheredBatches({
    gatherManyMs: options.gatherMs,
    newest: all,
    onDue: () => void took.push(gathered.shift().map(({ lane, records }) => `${lane}${records.length}`)),
    ...options,
  });
  return { gathered, took };
};

describe('GatheredBatches', () => {
  // Writes are due at multiples of the pause since the process began, so real time would make some of them due at once.
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('gathers the batches that come before the write is due, lane by lane', () => {
    const { gathered, took } = gathering({ gatherMs: 1 });
    gathered.add(batchOf('a', ['1', '2']), false);
    gathered.add(batchOf('b', ['1']), false);
    gathered.add(batchOf('a', ['3'], 2), false);
    jest.advanceTimersByTime(10);
    expect(took).toEqual([['a3', 'b1']]);
  });

  it('is due now for a batch that a caller waits for, and when hurried', () => {
    const { gathered, took } = gathering({ gatherMs: LONG });
    gathered.add(batchOf('a', ['1']), true);
    jest.advanceTimersByTime(5);
    gathered.add(batchOf('b', ['1']), false);
    gathered.hurry();
    jest.advanceTimersByTime(5);
    expect(took).toEqual([['a1'], ['b1']]);
  });

  it('shifts no more characters than one write may contain, but at least one lane, and then the others', () => {
    const { gathered, took } = gathering({ gatherMs: LONG });
    const large = 'x'.repeat(3 << 20);
    for (const [lane, value] of [
      ['a', large],
      ['b', large + large],
      ['c', '1'],
      ['d', '1'],
    ] as const) {
      gathered.add(batchOf(lane, [value]), false);
    }
    gathered.hurry();
    jest.advanceTimersByTime(20);
    expect(took).toEqual([['a1'], ['b1'], ['c1', 'd1']]);
  });

  it('leaves out of a busy lane what newer records replace, and acknowledges that too', () => {
    const newest: GatheringOptions['newest'] = (_, records) => records.slice(-3);
    const { gathered } = gathering({ gatherMs: LONG, newest });
    const acked: number[] = [];
    const values = Array.from({ length: 50 }, (_, index) => String(index));
    for (let from = 0; from < 1_000; from += 50) gathered.add(batchOf('a', values, from, acked), false);
    const lanes = gathered.shift();
    const offsets = lanes.flatMap(({ records }) => records.map(({ offset }) => offset));
    expect(offsets.length).toBeLessThan(450);
    expect(offsets.slice(-3)).toEqual([997, 998, 999]);
    expect(offsets.length + (lanes[0]?.leftOut ?? 0)).toBe(1_000);
    expect(acked).toEqual([]);
    gathered.wrote(lanes, offsets.length);
    expect(acked).toEqual(Array.from({ length: 1_000 }, (_, offset) => offset));
    gathered.stop();
  });

  it('writes what it could not write with what came since, in order, after the pause', () => {
    const { gathered, took } = gathering({ gatherMs: 10 });
    const acked: number[] = [];
    gathered.add(batchOf('a', ['1', '2'], 0, acked), false);
    gathered.add(batchOf('b', ['1']), false);
    const failed = gathered.shift();
    gathered.add(batchOf('a', ['3'], 2, acked), false);
    gathered.putBack(failed, 100);
    gathered.add(batchOf('a', ['4'], 3, acked), true);
    jest.advanceTimersByTime(99);
    expect(took).toEqual([]);
    jest.advanceTimersByTime(2);
    expect(took).toEqual([['a4', 'b1']]);
    expect(acked).toEqual([]);
  });

  it('drops a lane without acknowledging it', () => {
    const { gathered } = gathering({ gatherMs: LONG });
    const acked: number[] = [];
    gathered.add(batchOf('a', ['1'], 0, acked), false);
    gathered.add(batchOf('b', ['1']), false);
    gathered.drop('a');
    expect(gathered.shift().map(({ lane }) => lane)).toEqual(['b']);
    expect(acked).toEqual([]);
    gathered.stop();
  });

  it('gathers longer the more documents come, also after a burst', () => {
    const gathered = new GatheredBatches({ gatherMs: 10, gatherManyMs: 250, newest: all, onDue: () => undefined });
    /** Adds records at this rate for five seconds. Returns the shortest and the longest time between two writes. */
    const writing = (perMs: number): readonly [shortest: number, longest: number] => {
      const times: number[] = [];
      for (const start = performance.now(); performance.now() - start < 5_000;) {
        gathered.add(batchOf('a', ['1']), false);
        const before = performance.now();
        jest.advanceTimersToNextTimer();
        const lanes = gathered.shift();
        times.push(performance.now() - before);
        gathered.wrote(lanes, perMs * (performance.now() - before));
      }
      const last = times.slice(Math.floor(times.length / 2));
      return [Math.min(...last), Math.max(...last)];
    };
    expect(writing(0.01)).toEqual([10, 10]);
    expect(writing(0.1)).toEqual([25, 25]);
    expect(writing(0.5)).toEqual([10, 10]);
    expect(writing(3)).toEqual([250, 250]);
    expect(writing(0.1)).toEqual([25, 25]);
    expect(writing(0.01)).toEqual([10, 10]);
  });

  it('is due at the same time as the batches of other read models', () => {
    const due: number[] = [];
    const onDue = (): void => void due.push(performance.now());
    for (const laterMs of [1, 3, 4]) {
      jest.advanceTimersByTime(laterMs);
      const gathered = new GatheredBatches({ gatherMs: 50, gatherManyMs: 250, newest: all, onDue });
      gathered.add(batchOf('a', ['1']), false);
    }
    jest.advanceTimersByTime(100);
    expect(due).toHaveLength(3);
    expect(new Set(due).size).toBe(1);
  });

  it('drops what is left when it stops, and is due no more', () => {
    const { gathered, took } = gathering({ gatherMs: 1 });
    gathered.add(batchOf('a', ['1']), false);
    gathered.stop();
    gathered.add(batchOf('a', ['2']), true);
    gathered.hurry();
    jest.advanceTimersByTime(10);
    expect(took).toEqual([]);
  });
});
