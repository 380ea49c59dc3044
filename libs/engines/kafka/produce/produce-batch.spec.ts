import { describe, expect, it } from '@jest/globals';
import { type Outgoing, PartitionQueue } from './produce-batch.js';

const LARGE = 2 << 20;

const outgoing = (call: object, bytes = 1): Outgoing => ({
  message: { key: null, value: null, headers: {}, timestamp: 0 } as never,
  bytes,
  call,
  since: 0,
  done: () => undefined,
  failed: () => undefined,
});

describe('a batch that the broker refuses', () => {
  it('takes the rest of its calls with it, so that none is stored behind a gap, and leaves other calls', () => {
    const queue = new PartitionQueue('t', 0);
    const [one, other] = [{}, {}];
    const refused = [outgoing(one, LARGE), outgoing(one), outgoing(one)];
    const kept = [outgoing(other), outgoing(other)];
    for (const each of [refused[0], refused[1], kept[0], refused[2], kept[1]]) if (each) queue.add(each);
    expect(queue.next().records).toEqual([refused[0]]);
    expect(queue.refuse()).toEqual(refused);
    expect(queue.next().records).toEqual(kept);
  });
});
