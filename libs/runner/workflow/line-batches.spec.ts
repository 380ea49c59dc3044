import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type LogLine } from '#libs/component-model/run-output.js';
import { LineBatches } from './line-batches.js';

const line = (msg: string): LogLine => ({ k: 'stdout', ts: 1, msg });

// docs/reference/workflows.md#run-streams
describe('lines of an execution that goes on', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const collecting = (until: Promise<void> = Promise.resolve()) => {
    const told: (readonly [number, readonly string[]])[] = [];
    const batches = new LineBatches((from, lines) => {
      told.push([from, lines.map(({ msg }) => msg)]);
      return until;
    });
    return { batches, told };
  };

  it('are handed over together, twice a second at most', async () => {
    const { batches, told } = collecting();
    for (const msg of ['a', 'b']) batches.add(line(msg));
    await jest.advanceTimersByTimeAsync(499);
    expect(told).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    batches.add(line('c'));
    await jest.advanceTimersByTimeAsync(499);
    expect(told).toEqual([[0, ['a', 'b']]]);
    await jest.advanceTimersByTimeAsync(1);
    expect(told).toEqual([
      [0, ['a', 'b']],
      [2, ['c']],
    ]);
  });

  it('are not, when it ends before', async () => {
    const { batches, told } = collecting();
    batches.add(line('a'));
    batches.end();
    batches.add(line('b'));
    await jest.advanceTimersByTimeAsync(2_000);
    expect(told).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('wait while those before are on their way', async () => {
    let arrive: () => void = () => undefined;
    const { batches, told } = collecting(new Promise((resolve) => (arrive = resolve)));
    batches.add(line('a'));
    await jest.advanceTimersByTimeAsync(500);
    batches.add(line('b'));
    await jest.advanceTimersByTimeAsync(5_000);
    expect(told).toHaveLength(1);
    arrive();
    await jest.advanceTimersByTimeAsync(500);
    expect(told).toEqual([
      [0, ['a']],
      [1, ['b']],
    ]);
  });

  it('are bounded by count and size', async () => {
    const { batches, told } = collecting();
    for (let n = 0; n < 2_000; n++) batches.add(line('x'));
    await jest.advanceTimersByTimeAsync(500);
    expect(told.map(([, lines]) => lines.length)).toEqual([990]);
    const large = collecting();
    for (let n = 0; n < 10; n++) large.batches.add(line('x'.repeat(60 * 1024)));
    await jest.advanceTimersByTimeAsync(500);
    expect(large.told.map(([, lines]) => lines.length)).toEqual([3]);
  });
});
