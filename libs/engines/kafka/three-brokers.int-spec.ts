import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { all, follow, record, type Seen } from '#libs/engines/conformance/stream-log-harness.js';
import { startKafkaCluster, type KafkaCluster } from '#test/engines/kafka-cluster.js';
import { type KafkaStreamLog } from './index.js';
import { KafkaWorld } from './testing/kafka-world.js';

/** Three brokers of the test's own, because it ends them. Java starts many times, on a machine that may be busy. */

const PATIENCE_MS = 900_000;
const TOPICS = 12;
/** Names of topics whose lanes are idle until a broker has gone and come. */
const topics = all(TOPICS).map((n) => `t.${n}`);

let cluster: KafkaCluster;
let world: KafkaWorld;
beforeAll(async () => {
  cluster = await startKafkaCluster();
  world = new KafkaWorld(() => cluster.addresses);
}, PATIENCE_MS);
afterAll(async () => {
  await world.close();
  await cluster.stop();
}, PATIENCE_MS);

const until = async (what: string, holds: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<void> => {
  for (const end = Date.now() + withinMs; !(await holds()); await new Promise((resolve) => setTimeout(resolve, 50))) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
  }
};

describe('three brokers, three copies', () => {
  let publisher: KafkaStreamLog;
  let consumer: KafkaStreamLog;
  let seen: Seen;
  let rounds = 0;

  beforeAll(async () => {
    publisher = await world.open({ replicationFactor: 3 });
    consumer = await world.open({ replicationFactor: 3 });
    for (const topic of topics) await publisher.createTopic(topic, {});
    seen = await follow(consumer, { topics: { prefix: 't.' } });
  }, PATIENCE_MS);

  /** Publishes one record to each idle lane, and waits for the consumer to have them all. */
  const everyLaneHears = async (): Promise<void> => {
    const n = rounds++;
    await publisher.publish(topics.map((topic) => record(topic, n)));
    const deaf = (): string[] =>
      topics.filter((topic) => !seen.records.some((each) => each.topic === topic && each.headers.n === String(n)));
    await until(`round ${n}`, () => deaf().length === 0).catch((error: unknown) => {
      throw new Error(`deaf: ${deaf().join(', ')}`, { cause: error });
    });
  };

  it(
    'are heard on every idle lane while the brokers are restarted one after the other',
    async () => {
      await everyLaneHears();
      for (const broker of cluster.brokers) {
        await broker.shutDown();
        await everyLaneHears();
        await broker.start();
        await everyLaneHears();
      }
      expect(rounds).toBe(7);
    },
    PATIENCE_MS,
  );
});
