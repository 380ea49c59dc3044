import { describe, expect, it } from '@jest/globals';
import { HandedOver } from './handed-over.js';
import { type LaneBatch } from './stream-log.js';
import { drained } from './testing/drained.js';
import { InMemoryStreamLog } from './testing/in-memory-stream-log.js';

const record = (source: string, workspace: string, value = '12345', topic = 'invocations.all') => ({
  topic,
  key: source,
  headers: { source, workspace },
  value,
});

describe('records in flight', () => {
  it('are counted by source and workspace until acknowledged, however often they are handed over', async () => {
    const log = new InMemoryStreamLog();
    await log.createTopic('invocations.all');
    const handedOver = new HandedOver(2);
    const batches: LaneBatch[] = [];
    let failing = true;
    const consumer = await log.consume(
      handedOver.counting({
        group: 'g',
        topics: { prefix: 'invocations.' },
        maxBatch: 10,
        maxUnacked: 10,
        async handler(batch) {
          batches.push(batch);
          if (!failing) return;
          failing = false;
          throw new Error('again');
        },
      }),
    );
    await log.publish([
      record('a', 'o_1'),
      record('a', 'o_1'),
      record('a', 'o_1'),
      record('b', 'o_1'),
      record('c', 'o_2'),
    ]);
    while (batches.length < 2) await new Promise((resolve) => setImmediate(resolve));

    expect([...handedOver.bySource()]).toEqual([
      ['a', 3],
      ['b', 1],
      ['c', 1],
    ]);
    // At most two records of one source count.
    expect([...handedOver.byWorkspace()]).toEqual([
      ['o_1', 3],
      ['o_2', 1],
    ]);
    expect(['o_1', 'o_2', 'o_3'].map((id) => handedOver.sourcesOf(id))).toEqual([2, 1, 0]);
    for (const offset of [0, 1, 1, 2, 3, 4]) batches[1]?.ack(offset);
    expect([[...handedOver.bySource()], [...handedOver.byWorkspace()], handedOver.sourcesOf('o_1')]).toEqual([
      [],
      [],
      0,
    ]);
    await drained(consumer);
    await consumer.close();
  });

  it('do not include those of a revoked lane', async () => {
    const log = new InMemoryStreamLog();
    await log.createTopic('invocations.a');
    const handedOver = new HandedOver(2);
    const consumer = await log.consume(
      handedOver.counting({
        group: 'g',
        topics: { prefix: 'invocations.' },
        maxBatch: 10,
        maxUnacked: 10,
        handler: () => Promise.resolve(),
      }),
    );
    await log.publish([record('a', 'o_1', '1', 'invocations.a')]);
    while (handedOver.recordsOf('a') === 0) await new Promise((resolve) => setImmediate(resolve));
    expect([...handedOver.ownersIn('invocations.a')]).toEqual([{ source: 'a', workspace: 'o_1' }]);
    await log.deleteTopic('invocations.a');
    while (handedOver.recordsOf('a') > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(handedOver.sourcesOf('o_1')).toBe(0);
    await consumer.close();
  });
});
