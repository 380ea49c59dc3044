import { describe, expect, it } from '@jest/globals';
import { encodeRecord, HEADER_BYTES, ProtocolBreach, RecordParser, type RawRecord } from './records.js';

const copy = ({ index, json, raw }: RawRecord) => ({ index, json: json.toString(), raw: raw.toString() });

describe('records', () => {
  const records = [
    encodeRecord(0, { t: 'run' }, ['eins', 'zwei ü', Buffer.from('drei')]),
    encodeRecord(1, []),
    encodeRecord(2, ['x'], ['y'.repeat(5_000)]),
  ];
  const expected = [
    { index: 0, json: '{"t":"run"}', raw: 'einszwei üdrei' },
    { index: 1, json: '[]', raw: '' },
    { index: 2, json: '["x"]', raw: 'y'.repeat(5_000) },
  ];

  it.each([1, 2, 3, 7, 11, 12, 13, 64, 4_096, 1_000_000])('are restored from pieces of %i bytes', (size) => {
    const all = Buffer.concat(records);
    const seen: unknown[] = [];
    const parser = new RecordParser(10_000, (record) => seen.push(copy(record)));
    for (let at = 0; at < all.length; at += size) parser.push(all.subarray(at, at + size));
    expect(seen).toEqual(expected);
    expect(parser.pending()).toBe(0);
  });

  it.each([1, 13, 4_096, 1_000_000])('are handled a few at a time on request, in pieces of %i bytes', (size) => {
    const all = Buffer.concat([...records, ...records]);
    const batches: unknown[][] = [];
    const parser = new RecordParser(10_000, (record) => batches.at(-1)?.push(copy(record)));
    for (let at = 0; at < all.length; at += size) {
      let rest: Buffer = all.subarray(at, at + size);
      do {
        batches.push([]);
        rest = parser.push(rest, 2);
      } while (rest.length > 0);
    }
    expect(batches.flat()).toEqual([...expected, ...expected]);
    expect(Math.max(...batches.map(({ length }) => length))).toBe(size < 4_096 ? 1 : 2);
    expect(parser.pending()).toBe(0);
  });

  it('are refused above the size limit before their content has arrived', () => {
    const parser = new RecordParser(1_000, () => undefined);
    const head = Buffer.alloc(HEADER_BYTES);
    head.writeUInt32LE(0xffffffff, 4);
    head.writeUInt32LE(0xffffffff, 8);
    expect(() => parser.push(head)).toThrow(ProtocolBreach);
  });

  it('copy the bytes of a large one a bounded number of times', () => {
    const large = encodeRecord(0, [], [Buffer.alloc(6 * 1024 * 1024)]);
    let copied = 0;
    const concat = Buffer.concat;
    Buffer.concat = (list, length) => {
      copied += length ?? 0;
      return concat(list, length);
    };
    try {
      let seen = 0;
      const parser = new RecordParser(7 * 1024 * 1024, () => seen++);
      for (let at = 0; at < large.length; at += 1_024) parser.push(large.subarray(at, at + 1_024));
      expect(seen).toBe(1);
    } finally {
      Buffer.concat = concat;
    }
    expect(copied).toBeLessThanOrEqual(2 * large.length);
  });
});
