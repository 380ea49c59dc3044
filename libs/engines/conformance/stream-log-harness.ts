import { expect } from '@jest/globals';
import {
  type Consumer,
  type ConsumeOptions,
  type LaneBatch,
  type LogRecord,
  type StoredRecord,
  type StreamLog,
} from '#libs/stream-log/stream-log.js';
import { type Harness } from './harness.js';

/** The log, with control of time and retention for the test. */
export interface LogUnderTest {
  readonly log: StreamLog;
  /** Advances the adapter's clock and runs one retention pass. */
  sweepAfter(ms: number): Promise<void>;
  /** Set when one process owns the log, so a group has one consumer at most. */
  readonly isOfOneProcess?: true;
  /** Number of topics that counts as many. Default: 2,000. Fewer where creating one takes tens of milliseconds. */
  readonly manyTopics?: number;
}

/** Behaviour of an adapter that does not share the lanes of a group. */
export const refusesAnother = async (log: StreamLog): Promise<void> => {
  const { consumer } = await follow(log, { topics: { prefix: 't.' } });
  await expect(follow(log, { topics: { prefix: 't.' } })).rejects.toThrow('group g has a consumer');
  await consumer.close();
  await (await follow(log, { topics: { prefix: 't.' } })).consumer.close();
};

export type Log = () => LogUnderTest;
export type Get = () => Harness<LogUnderTest>;

export const record = (topic: string, n: number, key = 'k', value = `{"n":${n}}`): LogRecord => ({
  topic,
  key,
  headers: { id: `${topic}/${n}`, n: String(n) },
  value,
});
export const records = (topic: string, count: number, from = 0): LogRecord[] =>
  Array.from({ length: count }, (_, i) => record(topic, from + i));
export const numberOf = ({ headers }: LogRecord): number => Number(headers.n);
export const all = (count: number, from = 0): number[] => Array.from({ length: count }, (_, i) => from + i);

export interface Seen {
  readonly records: StoredRecord[];
  readonly batches: LaneBatch[];
  readonly consumer: Consumer;
}

/** A consumer that records what it receives. It acknowledges by default. */
export const follow = async (
  log: StreamLog,
  options: Partial<ConsumeOptions> & Pick<ConsumeOptions, 'topics'>,
  acknowledge = true,
): Promise<Seen> => {
  const seen: { records: StoredRecord[]; batches: LaneBatch[] } = { records: [], batches: [] };
  const consumer = await log.consume({
    group: 'g',
    maxBatch: 100,
    maxUnacked: 1000,
    handler: async (batch) => {
      seen.batches.push(batch);
      seen.records.push(...batch.records);
      if (acknowledge) for (const { offset } of batch.records) batch.ack(offset);
    },
    ...options,
  });
  return { ...seen, consumer };
};

export const read = async (log: StreamLog, topic: string): Promise<number[]> =>
  (await log.read(topic, -1, 10_000)).map(numberOf);
