import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { all, numberOf, record } from '#libs/engines/conformance/stream-log-harness.js';
import { KafkaWorld } from '#libs/engines/kafka/testing/kafka-world.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { LaneTracker } from '#libs/runner/lane-tracker.js';
import { type LaneProgress } from '#libs/runner/lane-state.js';
import { faultOf } from '#libs/engines/faults.js';
import { kafkaFault, type KafkaStreamLog } from '#libs/engines/kafka/index.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { eventually } from '#test/harness/wait.js';
import { startKafkaBroker, type KafkaBroker } from './kafka-broker.js';

/** The state of Kafka in an error; undefined for one that would be answered 500. */
const kafkaState = faultOf(kafkaFault);
const PATIENCE_MS = 300_000;
const dir = tempDir('kafka-restored');
let broker: KafkaBroker;
let world: KafkaWorld;
beforeAll(async () => {
  broker = await startKafkaBroker({ dir, heapMb: 256 });
  world = new KafkaWorld(() => [broker.brokers]);
}, PATIENCE_MS);
afterAll(async () => {
  try {
    await world?.close();
  } finally {
    await broker?.stop();
    removeDir(dir);
  }
}, PATIENCE_MS);

/** Consumes as the runner does, with progress that is stored elsewhere, until `count` records have run. */
const run = async (log: KafkaStreamLog, progress: LaneProgress, count: number) => {
  const tracker = new LaneTracker(progress);
  const ran: number[] = [];
  const consumer = await log.consume({
    group: 'runner',
    topics: { names: ['t'] },
    maxBatch: 100,
    maxUnacked: 100,
    handler: (batch) => {
      for (const each of batch.records) {
        if (tracker.admit(each, batch.end)) ran.push(numberOf(each));
        tracker.finish(each);
        batch.ack(each.offset);
      }
      return Promise.resolve();
    },
  });
  await eventually(`${count} ran`, () => (ran.length >= count ? true : undefined), 60_000);
  await consumer.close();
  return { ran, progress: tracker.progress() };
};

describe('a broker that is restored from an older copy', () => {
  it(
    'has every record run that it takes from then on, although their offsets were done before',
    async () => {
      const log = await world.open();
      await log.createTopic('t', {});
      await log.publish(all(5).map((n) => record('t', n)));
      const before = await run(log, { through: -1, above: [] }, 5);
      await log.close();
      await broker.shutDown();
      cpSync(join(dir, 'data'), join(dir, 'copy'), { recursive: true });
      await broker.start();

      const later = await world.open();
      await later.publish(all(5, 5).map((n) => record('t', n)));
      const after = await run(later, before.progress, 5);
      expect(after.progress).toMatchObject({ through: 9 });
      await later.close();
      await broker.shutDown();
      removeDir(join(dir, 'data'));
      cpSync(join(dir, 'copy'), join(dir, 'data'), { recursive: true });
      await broker.start();

      const restored = await world.open();
      expect(await restored.publish(all(3, 100).map((n) => record('t', n)))).toEqual([5, 6, 7]);
      expect((await run(restored, after.progress, 3)).ran).toEqual([100, 101, 102]);
    },
    PATIENCE_MS,
  );
});

// docs/reference/errors.md#engines
describe('a broker that comes back with an empty disk', () => {
  it(
    'lets a process that knew its topics work on those that are made anew, and tells what is gone as its state',
    async () => {
      const own = tempDir('kafka-emptied');
      let emptied = await startKafkaBroker({ dir: own, heapMb: 256 });
      const others = new KafkaWorld(() => [emptied.brokers]);
      try {
        const log = await others.open();
        for (const topic of ['source-1', 'source-2']) await log.createTopic(topic, {});
        await log.publish(all(3).map((n) => record('source-1', n)));
        const [lane = ''] = await log.lanes('source-1');
        expect(await log.endOf(lane)).toBe(3);
        await emptied.shutDown();
        removeDir(own);
        emptied = await startKafkaBroker({ dir: own, heapMb: 256, port: Number(emptied.brokers.split(':')[1]) });

        // The requests of a stream of events, and of every other call of the API, while the process still knows both
        // topics.
        const seen: number[] = [];
        const calls: Readonly<Record<string, () => Promise<unknown>>> = {
          tail: async () => (await log.tail({ names: ['source-1'] }, () => undefined)).close(),
          'tail of all': async () => (await log.tail({ prefix: 'source-' }, () => undefined)).close(),
          end: () => log.endOf(lane),
          read: () => log.read(lane, 0, 10),
          lane: () => log.laneOf('source-1', 'key'),
          lag: () => log.lag('runner', { prefix: 'source-' }),
          committed: () => log.committed('runner', 'source-1'),
          publish: () => log.publish([record('source-1', 9)]),
        };
        const failures: string[] = [];
        await Promise.all(
          Object.entries(calls).map(async ([name, call]) => {
            await call().catch((error: unknown) => {
              if (kafkaState(error) === undefined) failures.push(`${name}: ${messageOf(error)}`);
            });
          }),
        );
        expect(failures).toEqual([]);

        // Topics that are made anew are read from their beginning, by streams opened before and after.
        await log.createTopic('source-1', {});
        const tail = await log.tail({ names: ['source-1'] }, (records) => seen.push(...records.map(numberOf)));
        await log.publish(all(2, 10).map((n) => record('source-1', n)));
        await eventually('both records', () => (seen.length >= 2 ? true : undefined), 60_000);
        expect(seen).toEqual([10, 11]);
        await tail.close();
      } finally {
        await others.close().finally(() => emptied.stop());
        removeDir(own);
      }
    },
    PATIENCE_MS,
  );
});
