import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import kafkajs, { type Admin } from 'kafkajs';
import { all, follow, numberOf, record, records } from '../conformance/stream-log-harness.js';
import { eventually } from '../conformance/eventually.js';
import { testBrokers } from './testing/test-brokers.js';
import { Cluster } from './wire/cluster.js';
import { worldForEach } from './testing/kafka-world.js';

jest.setTimeout(120_000);

const TOPIC = 2;
const world = worldForEach();
let admin: Admin;
beforeAll(async () => {
  admin = new kafkajs.Kafka({ brokers: [...testBrokers()], logLevel: 0 }).admin();
  await admin.connect();
});
afterAll(() => admin.disconnect());

const kafkaKeeps = async (name: string): Promise<Readonly<Record<string, string>>> => {
  const { resources } = await admin.describeConfigs({
    resources: [{ type: TOPIC, name, configNames: ['retention.ms', 'retention.bytes'] }],
    includeSynonyms: false,
  });
  return Object.fromEntries(
    (resources[0]?.configEntries ?? []).map(({ configName, configValue }) => [configName, configValue]),
  );
};
/** Like an operator, this ignores groups. */
const dropBefore = async (topic: string, offset: number): Promise<void> => {
  const cluster = new Cluster({ brokers: testBrokers(), clientId: 'operator', onWarning: () => undefined });
  try {
    await cluster.refresh();
    const topics = [{ topic, partitions: [{ partition: 0, offset }] }];
    const leader = cluster.topic(topic)?.leaders[0] ?? -1;
    const reply = await cluster.call(leader, 'operator', 'DeleteRecords', { timeout: 10_000, topics });
    expect(reply.topics[0]?.partitions[0]?.errorCode).toBe(0);
  } finally {
    cluster.close();
  }
};
const FOREVER = { 'retention.ms': '-1', 'retention.bytes': '-1' };

describe('retention', () => {
  it('is never left to Kafka, which does not look at groups: not for new topics, and not for one that was there', async () => {
    const name = `${world().prefix}there`;
    await admin.createTopics({
      topics: [{ topic: name, configEntries: [{ name: 'retention.ms', value: '604800000' }] }],
    });
    const log = await world().open();
    for (const topic of ['new', 'there']) {
      await log.createTopic(topic, { ageMs: 60_000, bytes: 1_000 });
      expect(await kafkaKeeps(`${world().prefix}${topic}`)).toEqual(FOREVER);
    }
  });

  it('drops what is too old by the rule of a process that did not create the topic, and nothing unread', async () => {
    const time = { ahead: 0 };
    const [creating, sweeping] = [
      await world().open(),
      await world().open({ clock: { now: () => Date.now() + time.ahead }, retentionOf: () => ({ ageMs: 60_000 }) }),
    ];
    await creating.createTopic('t', {});
    await creating.publish(records('t', 5));
    const read = await follow(creating, { group: 'reading', topics: { names: ['t'] } });
    await eventually('all read', async () => (await creating.committed('reading', 't'))['t'] === 4);
    await read.consumer.close();
    await creating.publish(all(5, 5).map((n) => record('t', n)));
    time.ahead = 3_600_000;
    await sweeping.sweep();
    expect((await creating.read('t', -1, 100)).map(numberOf)).toEqual(all(5, 5));
  });
});

describe('records that were gone before a group read them', () => {
  it('are counted and told with lane, from and to, and those before a new group are not', async () => {
    const log = await world().open();
    await log.createTopic('t', {});
    await log.publish(records('t', 10));
    const first = await follow(log, { group: 'late', topics: { names: ['t'] } });
    await eventually('committed', async () => (await log.committed('late', 't'))['t'] === 9);
    await first.consumer.close();
    await log.publish(all(10, 10).map((n) => record('t', n)));
    await dropBefore(`${world().prefix}t`, 15);
    const late = await follow(log, { group: 'late', topics: { names: ['t'] } });
    const fresh = await follow(log, { group: 'new', topics: { names: ['t'] } });
    await eventually('the rest', () => late.records.length === 5 && fresh.records.length === 5);
    expect(log.skipped()).toEqual({ late: 5 });
    const told = world().warnings.filter((text) => text.startsWith('records were skipped'));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain('"lane":"t","from":10,"to":15');
  });
});
