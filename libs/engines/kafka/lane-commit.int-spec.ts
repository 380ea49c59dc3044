import { afterEach, describe, expect, it, jest } from '@jest/globals';
import kafkajs from 'kafkajs';
import { follow, record } from '#libs/engines/conformance/stream-log-harness.js';
import { eventually } from '#libs/engines/conformance/eventually.js';
import { type Forms } from '#libs/kernel/forms.js';
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

class SwitchedForms implements Forms {
  private readonly listeners: (() => void)[] = [];

  constructor(private may: boolean) {}

  mayWrite(): boolean {
    return this.may;
  }

  onWithdrawn(listener: () => void): void {
    this.listeners.push(listener);
  }

  withdraw(): void {
    this.may = false;
    for (const listener of this.listeners) listener();
  }
}

/** A lane with one acknowledged record, and the text that is stored with its offset. */
const laneWith = async (
  forms: Forms,
): Promise<{ log: KafkaStreamLog; committed: () => Promise<readonly [string, string]> }> => {
  const log = await world().open({ forms });
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

/** A member compares this text with the names of the members that live. One of the last release takes it whole. */
const HOLDER = /^[^;,]+$/;

describe('the text that is stored with the offset of a lane', () => {
  it('is the holder alone, as the last release reads it, while a process of that release may live', async () => {
    const { committed } = await laneWith(new SwitchedForms(false));
    expect((await committed())[1]).toMatch(HOLDER);
  });

  it('names the topic too when every process reads that', async () => {
    const { committed } = await laneWith(new SwitchedForms(true));
    expect((await committed())[1]).toMatch(/^[^;,]+;[0-9a-f-]{30,}$/);
  });

  it('is the holder alone again, without another record, once a process of the last release lives', async () => {
    const forms = new SwitchedForms(true);
    const { committed } = await laneWith(forms);
    const [holder = ''] = (await committed())[1].split(';');
    forms.withdraw();
    await eventually('the earlier form', async () => (await committed())[1] === holder);
    expect(await committed()).toEqual(['1', holder]);
  });
});

it('a member that gives up a lane does not write over the progress of a successor', async () => {
  const { log, committed } = await laneWith(new SwitchedForms(true));
  const [consumer] = log['consumers'];
  const agreement = consumer?.['assignment'].agreement;
  if (!consumer || !agreement) throw new Error('the group has not agreed');
  const successor = { topic: `${world().prefix}t`, partition: 0, next: 9, holder: 'successor' };
  expect(await log['offsets'].commit(consumer.group, agreement.member, [successor])).toEqual(new Map());
  await consumer.close();
  expect(await committed()).toEqual(['9', 'successor']);
});
