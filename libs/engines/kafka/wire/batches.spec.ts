import { describe, expect, it } from '@jest/globals';
import { createRecordsBatch, readRecordsBatches, Reader } from '@platformatic/kafka';
import { decodeBatches } from './batch-reader.js';
import { encodeBatch } from './batch-writer.js';
import { type ProduceMessage } from './protocol.js';

const ORIGIN = { producerId: '4294967301', producerEpoch: 3, firstSequence: 77 };
const TIME = 1_764_000_000_000;

const message = (n: number, more: Partial<ProduceMessage> = {}): ProduceMessage => ({
  key: `dc_${n}`,
  value: JSON.stringify({ n, text: 'x'.repeat(n) }),
  headers: { id: `inv_${n}`, kind: 'http', workspace: 'o_1234567', prop: '', at: String(TIME + n) },
  timestamp: TIME,
  ...more,
});

/** Of lengths around those at which a length takes one more byte, and beyond what the writer expects of a batch. */
const LENGTHS = [0, 1, 20, 21, 30, 31, 32, 62, 63, 64, 126, 127, 128, 8_000, 8_191, 8_192, 20_000, 1_100_000];

const CASES: Readonly<Record<string, readonly ProduceMessage[]>> = {
  'one record': [message(1)],
  'many records that are alike': Array.from({ length: 300 }, (_, n) => message(n)),
  'no headers, no value, no key': [message(0, { headers: {} }), message(1, { value: '' }), message(2, { key: '' })],
  'other headers in each': [
    message(1, { headers: { a: 'one', b: 'two' } }),
    message(2, { headers: { b: 'two', a: 'one' } }),
    message(3, { headers: { a: 'one', b: 'tw' } }),
    message(4, { headers: { a: 'onf', c: 'two' } }),
  ],
  'texts of other alphabets': [
    message(1, { key: 'ключ', value: '{"text":"日本語 😀 é"}', headers: { ключ: 'é'.repeat(40), emoji: '😀' } }),
    message(2, { value: 'é'.repeat(5_000), headers: { half: 'a\ud83d', long: 'ü'.repeat(300) } }),
  ],
  'values of all lengths': LENGTHS.map((length) => message(1, { value: 'x'.repeat(length) })),
  'headers of all lengths': LENGTHS.map((length) => message(1, { headers: { long: 'x'.repeat(length) } })),
  'a clock that went back, and ahead': [
    message(1, { timestamp: TIME }),
    message(2, { timestamp: TIME - 90_000 }),
    message(3, { timestamp: TIME + 1_000_000_000 }),
  ],
};

/** The batch as the client library encodes it. */
const byLibrary = (messages: readonly ProduceMessage[]): Buffer => {
  const { producerId, producerEpoch, firstSequence } = ORIGIN;
  const sent = messages.map(({ key, value, headers, timestamp }) => ({
    topic: 't',
    partition: 0,
    key: Buffer.from(key),
    value: Buffer.from(value),
    headers: new Map(Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)])),
    timestamp: BigInt(timestamp),
  }));
  const sequences = { getWithDefault: () => firstSequence } as never;
  const options = { producerId: BigInt(producerId), producerEpoch, sequences, partitionLeaderEpoch: -1 };
  return createRecordsBatch(sent, options).buffer;
};

const bytesOf = ({ key, value, headers }: ProduceMessage): number =>
  [key, value, ...Object.entries(headers).flat()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);

const wellFormed = (text: string): string => Buffer.from(text).toString();

const expected = (messages: readonly ProduceMessage[], first = 0): object[] =>
  messages.map((each, index) => ({
    offset: first + index,
    timestamp: each.timestamp,
    epoch: -1,
    key: each.key,
    value: each.value,
    headers: Object.fromEntries(Object.entries(each.headers).map(([name, text]) => [name, wellFormed(text)])),
    size: bytesOf(each),
  }));

describe.each(Object.entries(CASES))('a batch with %s', (_, messages) => {
  it('is encoded to the bytes of the client library', () => {
    expect(encodeBatch(messages, ORIGIN).equals(byLibrary(messages))).toBe(true);
  });

  it('is decoded to what was encoded', () => {
    expect(decodeBatches(byLibrary(messages))).toEqual({ messages: expected(messages), next: messages.length });
  });
});

describe('a batch over a year', () => {
  it('keeps its times, which the client library writes wrong from 25 days on', () => {
    const messages = [message(1), message(2, { timestamp: TIME + 31_000_000_000 }), message(3, { timestamp: 5 })];
    expect(decodeBatches(encodeBatch(messages, ORIGIN)).messages).toEqual(expected(messages));
  });
});

/** As the log keeps a batch: it sets the offset of the first record. */
const stored = (messages: readonly ProduceMessage[], first: number, attributes = 0): Buffer => {
  const batch = Buffer.from(encodeBatch(messages, ORIGIN));
  batch.writeBigInt64BE(BigInt(first), 0);
  batch.writeInt16BE(attributes, 21);
  return batch;
};

describe('the batches of an answer', () => {
  const [one, other] = [
    [message(1), message(2)],
    [message(1), message(9)],
  ];

  it('are read one after the other, and the last one only when it is whole', () => {
    const all = Buffer.concat([stored(one, 5), stored(other, 7)]);
    expect(decodeBatches(all)).toEqual({ messages: [...expected(one, 5), ...expected(other, 7)], next: 9 });
    for (const cut of [1, 40, 150]) {
      const cutOff = all.subarray(0, all.length - cut);
      expect(decodeBatches(cutOff)).toEqual({ messages: expected(one, 5), next: 7 });
    }
    expect(decodeBatches(Buffer.alloc(0))).toEqual({ messages: [], next: undefined });
  });

  it('give no message of a mark of transactions, and go on behind it', () => {
    const all = Buffer.concat([stored(one, 5), stored([message(3)], 7, 1 << 5), stored(other, 8)]);
    expect(decodeBatches(all)).toEqual({ messages: [...expected(one, 5), ...expected(other, 8)], next: 10 });
  });

  it('are refused when a record is longer than its batch', () => {
    const broken = stored([message(1, { value: 'x'.repeat(70) })], 0);
    const short = Buffer.from(broken.subarray(0, broken.length - 100));
    short.writeInt32BE(short.length - 12, 8);
    expect(() => decodeBatches(short)).toThrow(RangeError);
  });

  it.each([-12, -1, 0, 48])('are refused when a batch says that it has %i bytes', (length) => {
    const broken = stored(one, 0);
    broken.writeInt32BE(length, 8);
    expect(() => decodeBatches(broken)).toThrow(RangeError);
  });

  it('are those that the client library reads', () => {
    const [batch] = readRecordsBatches(Reader.from(stored(one, 5)));
    expect(batch?.records.map(({ value }) => value?.toString())).toEqual(one.map(({ value }) => value));
  });
});
