import { beforeEach, describe, expect, it } from '@jest/globals';
import { InvocationQueue } from './invocation-queue.js';
import { type Invocation } from './invocation.js';
import { sourceWorld } from './source/testing/source-world.js';

const { invocation } = sourceWorld();
const tick = (offset: number, prop = 'timer'): Invocation => invocation(offset, { kind: 'timer', prop });
const offsets = (invocations: readonly Invocation[]): number[] => invocations.map(({ record }) => record.offset);

describe('the queue of invocations', () => {
  let queue: InvocationQueue;
  beforeEach(() => {
    queue = new InvocationQueue();
  });
  const add = (...added: number[]): void => added.forEach((offset) => void queue.add(invocation(offset)));

  it('returns a batch from the front, at most as many as asked for', () => {
    add(0, 1, 2);
    expect(offsets(queue.shiftBatch(2, () => false))).toEqual([0, 1]);
    expect(offsets(queue.shiftBatch(2, () => false))).toEqual([2]);
    expect(offsets(queue.shiftBatch(0, () => false))).toEqual([]);
  });

  it('ends a batch before the first invocation that stops it', () => {
    add(0, 1, 2);
    const stopsAt = ({ record }: Invocation): boolean => record.offset === 1;
    expect(offsets(queue.shiftBatch(10, stopsAt))).toEqual([0]);
    expect(offsets(queue.shiftBatch(10, stopsAt))).toEqual([]);
    expect([queue.size, queue.first?.record.offset, queue.shift()?.record.offset]).toEqual([2, 1, 1]);
  });

  it('puts invocations back at their places in the lane, whatever the order in which they come back', () => {
    add(0, 1, 2, 3, 4);
    const started = queue.shiftBatch(3, () => false);
    for (const each of started.reverse()) queue.putBack(each);
    expect(offsets(queue.clear())).toEqual([0, 1, 2, 3, 4]);
    add(1);
    queue.putBack(invocation(7));
    expect(offsets(queue.clear())).toEqual([1, 7]);
  });

  it('holds back ticks of a timer that runs, and returns the latest one when the run ends', () => {
    const absorbed = [tick(0), tick(1), tick(2)].map((each) => queue.add(each)?.record.offset);
    queue.add(tick(3, 'other'));
    expect(absorbed).toEqual([undefined, undefined, 1]);
    expect(offsets(queue.clear())).toEqual([0, 3]);
    queue.runEnded(invocation(9));
    expect(queue.size).toBe(0);
    queue.runEnded(tick(0));
    expect(offsets(queue.clear())).toEqual([2]);
    queue.runEnded(tick(2));
    expect([queue.size, queue.add(tick(4))]).toEqual([0, undefined]);
    expect(queue.first?.record.offset).toBe(4);
  });
});
