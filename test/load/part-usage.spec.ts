import { describe, expect, it } from '@jest/globals';
import { cpuSince, totalOf, usageOf } from './part-usage.js';
import { storesSince } from './store-figures.js';

const part = (name: string, cpuUs: number, isSandbox = false) => ({ name, isSandbox, processes: 1, cpuUs, rssMb: 10 });

describe('usage by part', () => {
  it('sums processes of one name', () => {
    const [alone] = usageOf([{ name: 'a', pid: process.pid }]);
    const [twice] = usageOf([
      { name: 'a', pid: process.pid },
      { name: 'a', pid: process.pid },
    ]);
    expect(twice?.processes).toBe(2);
    expect(twice?.rssMb).toBeGreaterThan(1.5 * (alone?.rssMb ?? Infinity));
  });

  it('counts only the usage since the first reading, including new parts', () => {
    expect(cpuSince([part('a', 100)], [part('a', 150), part('b', 30)]).map(({ cpuUs }) => cpuUs)).toEqual([50, 30]);
  });

  it('counts sandboxes as children', () => {
    expect(totalOf([part('runner', 100), part('runner: sandboxes', 50, true)])).toEqual({
      processes: 2,
      cpuUs: 150,
      mainCpuUs: 100,
      mainRssMb: 10,
      childrenRssMb: 10,
    });
  });
});

describe('storesSince', () => {
  it('divides new writes by the events, including new topics', () => {
    const before = { topics: { emits: { records: 10, bytes: 1_000 } }, journalCommits: 5, batches: { m: 1 } };
    const after = {
      topics: { emits: { records: 30, bytes: 5_000 }, attempts: { records: 20, bytes: 100 } },
      journalCommits: 7,
      batches: { m: 2 },
    };
    expect(storesSince(before, after, 20)).toEqual({
      topics: { emits: { records: 1, bytes: 200 }, attempts: { records: 1, bytes: 5 } },
      journalCommits: 0.1,
      batches: { m: 0.05 },
    });
  });
});
