import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { all, follow, numberOf, record } from '../conformance/stream-log-harness.js';
import { startKafkaBroker, type KafkaBroker } from '#test/engines/kafka-broker.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { type KafkaStreamLog } from './index.js';
import { worldForEach } from './testing/kafka-world.js';

/** Uses a separate broker, because the test kills it. */

/** The test starts a Java process twice, on a machine that may be busy. */
const PATIENCE_MS = 900_000;
let broker: KafkaBroker | undefined;
beforeAll(async () => {
  broker = await startKafkaBroker({ heapMb: 256 });
}, PATIENCE_MS);
afterAll(async () => {
  await broker?.stop();
}, PATIENCE_MS);

const running = (): KafkaBroker => {
  if (!broker) throw new Error('the broker did not start');
  return broker;
};
const world = worldForEach(() => [running().brokers]);

/** Returns false when the log refused the record, because no broker answered for half a minute. */
const isPublished = async (log: KafkaStreamLog, each: LogRecord): Promise<boolean> => {
  try {
    return typeof (await log.publish([each]))[0] === 'number';
  } catch (error) {
    expect(String(error)).toContain('cannot publish');
    return false;
  }
};

const until = async (what: string, holds: () => boolean): Promise<void> => {
  for (const end = Date.now() + 120_000; !holds(); await new Promise((resolve) => setTimeout(resolve, 20))) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
  }
};

describe('a broker that is killed under load and started again', () => {
  it(
    'loses nothing that was acknowledged, keeps the order, and consumers go on by themselves',
    async () => {
      const log = await world().open();
      await log.createTopic('a', {});
      await log.createTopic('b', {}, 3);
      const { records: seen } = await follow(log, { topics: { names: ['a', 'b'] } });
      const acknowledged = new Set<string>();
      let stop = false;
      let retried = 0;
      const publisher = async (topic: string, key: string): Promise<void> => {
        for (let n = 0; !stop; n++) {
          while (!(await isPublished(log, record(topic, n, key)))) retried++;
          acknowledged.add(`${topic} ${key} ${n}`);
        }
      };
      const publishing = [publisher('a', 'x'), publisher('b', 'y'), publisher('b', 'z')];
      await until('load', () => seen.length > 100);
      await running().kill9();
      await running().start();
      const before = acknowledged.size;
      await until('publishing again', () => acknowledged.size > before + 100);
      stop = true;
      await Promise.all(publishing);
      const nameOf = (each: { topic: string; key: string; headers: Readonly<Record<string, string>> }): string =>
        `${each.topic} ${each.key} ${each.headers.n ?? ''}`;
      await until('all of them', () => new Set(seen.map(nameOf)).size >= acknowledged.size);
      const consumed = new Set(seen.map(nameOf));
      expect([...acknowledged].filter((name) => !consumed.has(name))).toEqual([]);
      for (const key of ['x', 'y', 'z']) {
        const stored = [
          ...new Map(seen.filter((each) => each.key === key).map((each) => [each.offset, each])).values(),
        ];
        const numbers = stored.map(numberOf);
        // Only a record that was refused after half a minute and published again may be stored twice.
        expect(numbers.length - new Set(numbers).size).toBeLessThanOrEqual(retried);
        expect([...new Set(numbers)]).toEqual(all(new Set(numbers).size));
      }
    },
    PATIENCE_MS,
  );
});
