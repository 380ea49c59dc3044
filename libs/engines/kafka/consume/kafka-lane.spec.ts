import { describe, expect, it } from '@jest/globals';
import { type LaneBatch } from '#libs/stream-log/stream-log.js';
import { FetchBudget } from '../../fetch-budget.js';
import { KafkaLane } from './kafka-lane.js';

const SIZE = 10_000;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const laneWith = (limit: number) => {
  const budget = new FetchBudget(limit);
  const batches: LaneBatch[] = [];
  let wanting = 0;
  const lane = new KafkaLane(
    { name: 't', shortTopic: 't', topic: 't', topicId: 't', partition: 0 },
    { next: 0, end: 0, epoch: -1, incarnation: 0 },
    {
      group: 'g',
      topics: { names: ['t'] },
      maxBatch: 10,
      maxUnacked: 100,
      handler: async (batch) => void batches.push(batch),
    },
    budget,
    { wanting: () => wanting++, committed: () => undefined, failed: () => undefined, inDoubt: () => undefined },
  );
  const fetched = async (from: number, count: number, epoch = 1): Promise<void> => {
    const messages = Array.from({ length: count }, (_, n) => ({
      offset: from + n,
      timestamp: 1,
      epoch,
      key: null,
      value: Buffer.alloc(SIZE, 'x'),
      headers: [],
    }));
    lane.fetched({ partition: 0, errorCode: 0, highWatermark: 100, messages, next: from + count }, from);
    await turn();
  };
  const offsets = (): number[][] => batches.map(({ records }) => records.map(({ offset }) => offset));
  return { budget, lane, batches, fetched, offsets, wanting: () => wanting };
};

describe('KafkaLane', () => {
  it('hands over what its share allows, one record at least, and wants more after an acknowledgement', async () => {
    const { budget, lane, batches, fetched, offsets } = laneWith(64 * 25_000);
    await fetched(0, 5);
    expect(offsets()).toEqual([[0, 1]]);
    expect(budget.limit - budget.free).toBeGreaterThan(5 * SIZE);
    expect(lane.wantsMore()).toBe(false);
    batches[0]?.ack(0);
    await turn();
    expect(offsets()).toEqual([[0, 1], [2]]);
    for (const offset of [1, 2]) batches[0]?.ack(offset);
    await turn();
    expect(offsets().flat()).toEqual([0, 1, 2, 3, 4]);
    lane.revoke();
    lane.window.detach();
    expect(budget.free).toBe(budget.limit);
  });

  it('takes a record that is larger than the whole budget, alone', async () => {
    const { budget, lane, batches, fetched, offsets } = laneWith(SIZE / 2);
    await fetched(0, 3);
    expect(offsets()).toEqual([[0]]);
    expect(budget.free).toBeLessThan(0);
    for (const offset of [0, 1, 2]) {
      batches.at(-1)?.ack(offset);
      await turn();
    }
    expect(offsets()).toEqual([[0], [1], [2]]);
    expect([budget.free, lane.wantsMore()]).toEqual([budget.limit, true]);
  });

  it('fetches again what it dropped, and takes no answer to a fetch from before that', async () => {
    const { budget, lane, batches, fetched, offsets, wanting } = laneWith(64 * 15_000);
    await fetched(0, 2);
    await fetched(2, 2, 2);
    expect([offsets(), lane.position]).toEqual([[[0]], 4]);
    lane.shed();
    expect([lane.position, lane.wantsMore()]).toEqual([1, false]);
    expect(budget.limit - budget.free).toBeLessThan(2 * SIZE);
    await fetched(4, 2, 2);
    expect([offsets(), lane.position]).toEqual([[[0]], 1]);

    const before = wanting();
    batches[0]?.ack(0);
    await turn();
    expect([lane.wantsMore(), wanting() > before]).toEqual([true, true]);
    await fetched(1, 1);
    await fetched(2, 2, 2);
    for (const offset of [1, 2, 3]) {
      batches[0]?.ack(offset);
      await turn();
    }
    expect(offsets()).toEqual([[0], [1], [2], [3]]);
    expect(lane.commitBy('me')).toMatchObject({ next: 4, epoch: 2 });
  });
});
