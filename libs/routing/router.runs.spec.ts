import { describe, expect, it } from '@jest/globals';
import { runsRecord } from '#libs/stream-log/source-runs.js';
import { drained } from '#libs/stream-log/testing/drained.js';
import { emitRecord, routerWorlds, topics } from './testing/router-world.js';

const newWorld = routerWorlds();

describe('the record of the runs of a commit', () => {
  it('goes to no listener, and does not count as an event', async () => {
    const { log, start, subscribe } = newWorld();
    subscribe({ emitter: 'dc_a', listener: 'wh_1', channel: '' });
    for (const id of ['dc_a', 'wh_1'])
      for (const { topic, retention } of topics.ownedBy(id)) await log.createTopic(topic, retention);
    const runs = runsRecord({ topic: topics.emits('dc_a'), sourceId: 'dc_a', workspaceId: 'o_1' }, []);
    await log.publish([emitRecord(1), runs, emitRecord(2)]);
    const router = await start();
    await drained(router);
    expect(log.recordsOf('deliveries.wh_1')).toHaveLength(2);
    expect([router.metrics.emits, router.metrics.poisoned]).toEqual([2, 0]);
  });
});
