import { describe, expect, it } from '@jest/globals';
import { type SentRun } from '../protocol/protocol.js';
import { RunQueue } from './run-queue.js';

const immediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const frame = (from: number, count: number): [number, number][] =>
  Array.from({ length: count }, (_, i): [number, number] => [from + i, 1]);

describe('the queue of runs in a process', () => {
  /** Queues runs that block for `ms` each. Returns how many had started after each turn of the event loop. */
  const turnsOf = async (ms: number, concurrency: number, frames: number): Promise<number[]> => {
    let now = 0;
    let started = 0;
    const queue: RunQueue = new RunQueue(
      () => {
        started++;
        now += ms;
        queueMicrotask(() => queue.ended());
      },
      () => now,
    );
    queue.concurrency = concurrency;
    for (let n = 0; n < frames; n++) queue.add(frame(1 + (n * 8) / frames, 8 / frames), Buffer.from('x'.repeat(8)));
    const turns = [];
    while (started < 8) {
      await immediate();
      turns.push(started);
    }
    return turns;
  };

  it.each([
    [1, 1],
    [8, 1],
    [8, 8],
  ])('reads from the host between runs that block: %d at once, in %d frames', async (concurrency, frames) => {
    const turns = await turnsOf(29_000, concurrency, frames);
    const steps = turns.map((started, i) => started - (turns[i - 1] ?? 0));
    expect(Math.max(...steps)).toBe(1);
    // Control: several short runs start in one turn of the loop.
    expect((await turnsOf(1, concurrency, frames))[0]).toBe(8);
  });

  it('gives where the body stands that an event holds once, after texts of any characters', async () => {
    const started: unknown[] = [];
    const queue: RunQueue = new RunQueue((...run) => started.push(run));
    queue.concurrency = 2;
    const [first, second] = ['["🙂é"]', '{"é€":["🙂"]}'];
    const bytes = [first, second].map((text) => Buffer.byteLength(text)) as [number, number];
    const runs: SentRun[] = [
      [1, bytes[0]],
      [2, bytes[1], 6, 12],
    ];
    queue.add(runs, Buffer.from(first + second));
    await immediate();
    expect(started).toEqual([
      [1, first, undefined],
      [2, second, { start: 6, end: 12 }],
    ]);
  });

  it('never starts dropped runs, even planned ones, and continues with later runs', async () => {
    const started: number[] = [];
    const queue: RunQueue = new RunQueue((n) => started.push(n));
    queue.concurrency = 2;
    queue.add(frame(1, 4), Buffer.from('abcd'));
    await immediate();
    expect(started).toEqual([1, 2]);
    queue.ended();
    queue.drop();
    queue.ended();
    await immediate();
    queue.add(frame(5, 1), Buffer.from('e'));
    queue.drop();
    await immediate();
    await immediate();
    expect(started).toEqual([1, 2]);
    queue.add(frame(6, 1), Buffer.from('f'));
    await immediate();
    expect(started).toEqual([1, 2, 6]);
  });
});
