import { describe, expect, it } from '@jest/globals';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { perEmitterTopics, sharedTopics } from '#libs/stream-log/topics.js';
import { waitingDeliveries } from './waiting-deliveries.js';

const KEPT = { emitsAgeMs: 1, emitsBytes: 1 };

const world = async (topics = perEmitterTopics(KEPT)) => {
  const log = new InMemoryStreamLog();
  for (const id of ['wh_1', 'wh_2']) await log.createTopic(`deliveries.${id}`, {});
  const record = { topic: 'deliveries.wh_2', key: 'wh_2', headers: { id: 'a' }, value: '{}' };
  await log.publish([record, record]);
  const asked: (readonly string[])[] = [];
  const due = {
    countsOf: async (owners: readonly string[]) => {
      asked.push(owners);
      return owners.map((owner) => (owner === 'wh_3' ? 5 : 1));
    },
  };
  return { asked, waiting: waitingDeliveries(log, due, topics) };
};

describe('the deliveries of webhooks that are not ended', () => {
  it('are those in the log and those that wait for another attempt, which are asked for once', async () => {
    const { asked, waiting } = await world();
    expect(await waiting.of(['wh_3', 'wh_2', 'wh_1'])).toEqual([5, 3, 1]);
    expect(asked).toEqual([['wh_3', 'wh_2', 'wh_1']]);
  });

  it('are those that wait for another attempt where webhooks share lanes', async () => {
    const { waiting } = await world(sharedTopics(KEPT, 4));
    expect(await waiting.of(['wh_2', 'wh_3'])).toEqual([1, 5]);
  });
});
