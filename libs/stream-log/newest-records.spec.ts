import { describe, expect, it } from '@jest/globals';
import { type Doc } from '#libs/kernel/read-model-store.js';
import { newestRecords } from './newest-records.js';
import { foldRecords, GroupSizes, type StreamProjection } from './stream-projection.js';
import { type StoredRecord } from './stream-log.js';

interface Line extends Doc {
  readonly list: string;
  readonly sort: string;
}

let interpreted = 0;
const lines: StreamProjection<Line> = {
  name: 'specs.lines.v1',
  prefix: 'lines.',
  schema: { name: 'specs.lines.v1', indexed: ['list'], sort: 'sort' },
  keep: { by: 'list', newest: 5 },
  interpret({ key, value, headers: { remove } }) {
    interpreted++;
    if (remove !== undefined) return { kind: 'remove', where: { list: key }, from: value };
    return { kind: 'put', docs: [{ id: `${key}/${value}`, list: key, sort: value }] };
  },
  listOf: ({ key, headers: { remove } }) => (remove === undefined ? key : undefined),
  ofKey: (key) => [{ list: key }],
};

const stored = (key: string, sort: number, headers: Record<string, string> = {}): StoredRecord => ({
  topic: 'lines.a',
  lane: 'lines.a',
  key,
  headers,
  value: String(sort).padStart(6, '0'),
  offset: sort,
  timestamp: 0,
  size: 1,
});

const puts = (records: readonly StoredRecord[]): readonly string[] =>
  foldRecords(lines, records, new GroupSizes(lines)).writes.flatMap((write) =>
    write.op === 'put' ? [write.doc.id] : [],
  );

describe('the newest records of each list', () => {
  const many = Array.from({ length: 1_000 }, (_, n) => stored(n % 50 === 0 ? 'rare' : 'busy', n));

  it('give the documents of all of them, of which few are made', () => {
    const all = puts(many);
    interpreted = 0;
    expect(puts(newestRecords(lines, many))).toEqual(all);
    expect(interpreted).toBe(20);
  });

  it('are chosen among as many again, because documents may come a little out of order', () => {
    const late = many.map((_, n) => stored('busy', n % 5 === 0 ? n + 4 : n - 1));
    expect(puts(newestRecords(lines, late))).toEqual(puts(late));
  });

  it('are all records when one removes documents, and when they are few', () => {
    const removing = [...many, stored('busy', 900, { remove: '1' })];
    expect(newestRecords(lines, removing)).toBe(removing);
    const few = many.slice(0, 10);
    expect(newestRecords(lines, few)).toBe(few);
  });
});
