import { afterEach, expect, it, jest } from '@jest/globals';
import kafkajs from 'kafkajs';
import { follow, record } from '../conformance/stream-log-harness.js';
import { eventually } from '../conformance/eventually.js';
import { type KafkaStreamLog } from './index.js';
import { testBrokers } from './testing/test-brokers.js';
import { worldForEach } from './testing/kafka-world.js';

jest.setTimeout(120_000);

const world = worldForEach();
const kafka = new kafkajs.Kafka({ brokers: [...testBrokers()], logLevel: kafkajs.logLevel.NOTHING });
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A lane with one acknowledged record, and the text that is stored with its offset. */
const laneWithOne = async (): Promise<{
  log: KafkaStreamLog;
  committed: () => Promise<readonly [string, string]>;
}> => {
  const log = await world().open();
  await log.createTopic('t', {});
  const { records } = await follow(log, { topics: { names: ['t'] } });
  await log.publish([record('t', 0)]);
  await eventually('the record', () => records.length === 1);
  const admin = kafka.admin();
  await admin.connect();
  ends.push(() => admin.disconnect());
  const { prefix } = world();
  const committed = async (): Promise<readonly [string, string]> => {
    const groups = await admin.listGroups();
    const groupId = groups.groups.find((each) => each.groupId.startsWith(prefix))?.groupId ?? '';
    const [topic] = await admin.fetchOffsets({ groupId, topics: [`${prefix}t`] });
    const [lane] = topic?.partitions ?? [];
    return [lane?.offset ?? '', lane?.metadata ?? ''];
  };
  await eventually('the commit', async () => (await committed())[0] === '1');
  return { log, committed };
};

it('the text that is stored with the offset of a lane names the holder and the topic', async () => {
  const { committed } = await laneWithOne();
  expect((await committed())[1]).toMatch(/^[^;,]+;[0-9a-f-]{30,}$/);
});

it('a member that gives up a lane does not write over the progress of a successor', async () => {
  const { log, committed } = await laneWithOne();
  const [consumer] = log['consumers'];
  const agreement = consumer?.['assignment'].agreement;
  if (!consumer || !agreement) throw new Error('the group has not agreed');
  const successor = { topic: `${world().prefix}t`, partition: 0, next: 9, holder: 'successor' };
  expect(await log['offsets'].commit(consumer.group, agreement.member, [successor])).toEqual(new Map());
  await consumer.close();
  expect(await committed()).toEqual(['9', 'successor']);
});
