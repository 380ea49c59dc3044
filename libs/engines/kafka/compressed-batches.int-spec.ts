import { describe, expect, it, jest } from '@jest/globals';
import { Producer } from '@platformatic/kafka';
import { eventually } from '../conformance/eventually.js';
import { all, follow, numberOf, record } from '../conformance/stream-log-harness.js';
import { worldForEach } from './testing/kafka-world.js';
import { testBrokers } from './testing/test-brokers.js';

/** Batches that other clients compressed. This engine compresses none. */
jest.setTimeout(120_000);
const CODECS = ['gzip', 'snappy', 'lz4', 'zstd'] as const;
const COUNT = 300;
const world = worldForEach();
/** Several lengths, among them more than a block of each codec. */
const filling = (n: number): string => `${n} `.repeat(1 + ((n * 997) % 30_000));

describe('batches that a broker compresses', () => {
  // The topic's `compression.type` makes the broker compress the records anew, with the code of Java's clients.
  it.each(CODECS)('with %s are read as they were published', async (codec) => {
    const log = await world().open();
    await log.createTopic('t', {});
    await log['admin'].alter(`${world().prefix}t`, [{ name: 'compression.type', value: codec }]);
    const { records: seen } = await follow(log, { topics: { names: ['t'] } });
    await log.publish(all(COUNT).map((n) => record('t', n, 'k', filling(n))));
    await eventually('all of them', () => seen.length === COUNT);
    expect(seen.map(numberOf)).toEqual(all(COUNT));
    expect(seen.map(({ value }) => value)).toEqual(all(COUNT).map(filling));
    expect((await log.read('t', 199, 10)).map(numberOf)).toEqual(all(10, 200));
  });
});

describe('batches that another producer compresses', () => {
  it.each(CODECS.filter((codec) => codec !== 'zstd' || 'zstdCompressSync' in process.getBuiltinModule('node:zlib')))(
    'with %s are read',
    async (codec) => {
      const log = await world().open();
      await log.createTopic('t', {});
      const producer = new Producer({ clientId: 'other', bootstrapBrokers: [...testBrokers()], compression: codec });
      try {
        const messages = all(COUNT).map((n) => ({
          topic: `${world().prefix}t`,
          key: Buffer.from('k'),
          value: Buffer.from(filling(n)),
        }));
        await producer.send({ messages });
      } finally {
        await producer.close();
      }
      const seen = await log.read('t', -1, COUNT);
      expect(seen.map(({ value }) => value)).toEqual(all(seen.length).map(filling));
      expect(seen.length).toBeGreaterThan(0);
    },
  );
});
