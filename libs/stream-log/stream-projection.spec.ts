import { describe, expect, it } from '@jest/globals';
import { foldRecords, GroupSizes } from './stream-projection.js';
import { type LogRecord, type StoredRecord } from './stream-log.js';
import { lines, put, record } from './testing/lines.js';

describe('foldRecords', () => {
  const stored = (values: readonly LogRecord[]): StoredRecord[] =>
    values.map((value, offset) => ({ ...value, lane: value.topic, offset, timestamp: 0, size: 1 }));

  it('writes only the kept documents of many records', () => {
    const run = stored(put('a', ...Array.from({ length: 500 }, (_, i) => String(i).padStart(3, '0'))));
    const { writes } = foldRecords(lines, run, new GroupSizes(lines));
    expect(writes.map((write) => (write.op === 'put' ? write.doc.id : write.op))).toEqual([
      'a/495',
      'a/496',
      'a/497',
      'a/498',
      'a/499',
      'trim',
    ]);
  });

  it('applies removals in order, to earlier documents only', () => {
    const run = stored([...put('a', '1', '2', '3'), record('a', 'remove 2 9'), ...put('a', '2', '4')]);
    const { writes } = foldRecords(lines, run, new GroupSizes(lines));
    expect(writes.slice(0, -1)).toEqual([
      { op: 'delete_range', where: { list: 'a' }, from: '2', to: '9' },
      { op: 'put', doc: expect.objectContaining({ id: 'a/1' }) },
      { op: 'put', doc: expect.objectContaining({ id: 'a/2' }) },
      { op: 'put', doc: expect.objectContaining({ id: 'a/4' }) },
    ]);
  });

  it('keeps the newest documents even when they arrive out of order', () => {
    const run = stored(put('a', '9', '1', '8', '2', '7', '3', '6'));
    const { writes } = foldRecords(lines, run, new GroupSizes(lines));
    expect(writes.flatMap((write) => (write.op === 'put' ? [write.doc.id] : []))).toEqual([
      'a/3',
      'a/6',
      'a/7',
      'a/8',
      'a/9',
    ]);
  });

  it('trims a group only when it may have grown too large, not with each batch', () => {
    const sizes = new GroupSizes(lines);
    const trims = Array.from({ length: 60 }, (_, i) =>
      foldRecords(lines, stored(put('a', String(i))), sizes).writes.some(({ op }) => op === 'trim'),
    );
    expect(trims.filter(Boolean).length).toBeLessThanOrEqual(3);
    expect(trims[0]).toBe(true);
  });
});
