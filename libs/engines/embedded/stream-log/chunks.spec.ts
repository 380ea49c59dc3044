import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureSchema } from '../writer/schema.js';
import { Database } from '../writer/sqlite-driver.js';
import { CHUNK_BYTES, countRecords } from './chunks.js';
import { readRecords } from './fetcher.js';
import { packedBytes, packRecord } from './packed-records.js';
import { recordOperations } from './record-operations.js';

let folder: string;
let db: Database;
let operations: ReturnType<typeof recordOperations>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-chunks-'));
  db = new Database(join(folder, 'data.db'));
  ensureSchema('data', db);
  operations = recordOperations(db);
  commit(() => [1, 2].map((id) => operations.handlers.create_topic?.(topicArgs(`t${id}`), Buffer.alloc(0))));
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

const topicArgs = (name: string) => ({ name, ageMs: null, bytes: null, dropConsumed: false });
const commit = <T>(work: () => T): T => {
  db.exec('BEGIN');
  operations.beforeGroup?.();
  const result = work();
  operations.beforeCommit?.();
  db.exec('COMMIT');
  return result;
};
const packed = (records: readonly (readonly [topic: number, value: string])[]): Buffer => {
  const sizes = records.map(([, value]) => packedBytes(3 + Buffer.byteLength(value)));
  const target = Buffer.alloc(sizes.reduce((sum, size) => sum + size, 0));
  let end = 0;
  for (const [topic, value] of records) end = packRecord(target, end, topic, 0, { key: 'k', headers: '{}', value });
  return target;
};
const rows = (): readonly object[] => db.sql('SELECT topic, first, last, n, size FROM chunks ORDER BY last').all();
const valuesOf = (topic: number, after: number, upTo = 1_000, limit = 100) => {
  const { records, complete } = readRecords(db, { id: topic, name: `t${topic}` }, { after, upTo, limit });
  return { values: records.map(({ value }) => value), complete };
};

describe('chunks', () => {
  it('hold what one topic committed together, with the offsets of a sequence that all topics share', () => {
    const offsets = commit(() => [
      operations.append(
        packed([
          [1, 'a'],
          [2, 'ü'],
          [1, 'c'],
        ]),
      ),
      operations.append(packed([[1, 'd']])),
    ]);
    expect(offsets).toEqual([0, 3]);
    expect(rows()).toEqual([
      { topic: 2, first: 1, last: 1, n: 1, size: 5 },
      { topic: 1, first: 0, last: 3, n: 3, size: 12 },
    ]);
    const [first, , last] = readRecords(db, { id: 1, name: 't1' }, { after: -1, upTo: 9, limit: 9 }).records;
    expect(first).toEqual({
      topic: 't1',
      lane: 't1',
      key: 'k',
      headers: {},
      value: 'a',
      offset: 0,
      timestamp: 0,
      size: 4,
    });
    expect(last).toMatchObject({ offset: 3, value: 'd' });
  });

  it('are cut by every reader at its own offsets', () => {
    commit(() => operations.append(packed(['a', 'b', 'c', 'd'].map((value) => [1, value] as const))));
    commit(() => operations.append(packed(['e', 'f'].map((value) => [1, value] as const))));
    expect(valuesOf(1, -1)).toEqual({ values: ['a', 'b', 'c', 'd', 'e', 'f'], complete: true });
    expect(valuesOf(1, 1, 4)).toEqual({ values: ['c', 'd', 'e'], complete: true });
    expect(valuesOf(1, 1, 2)).toEqual({ values: ['c'], complete: true });
    expect(valuesOf(1, 0, 9, 2)).toEqual({ values: ['b', 'c'], complete: false });
    expect(valuesOf(1, 5)).toEqual({ values: [], complete: true });
    for (const after of [-1, 0, 2, 3, 4, 5])
      for (const upTo of [-1, 0, 2, 3, 4, 5, 9]) {
        const { length } = valuesOf(1, after, upTo).values;
        expect({ after, upTo, ...countRecords(db, 1, { after, upTo }) }).toEqual({
          after,
          upTo,
          n: length,
          bytes: 4 * length,
        });
      }
  });

  it('are no larger than a reader of one record should read, unless one record is', () => {
    const value = 'x'.repeat(CHUNK_BYTES / 4);
    commit(() => operations.append(packed(Array.from({ length: 9 }, () => [1, value] as const))));
    commit(() => operations.append(packed([[1, 'x'.repeat(3 * CHUNK_BYTES)]])));
    expect(rows().map((row) => (row as { n: number }).n)).toEqual([4, 4, 1, 1]);
    expect(valuesOf(1, -1).values).toHaveLength(10);
  });

  it('leave out records of a topic that is deleted in the same commit, and give no offset to those after it', () => {
    const [before, , after] = commit(() => [
      operations.append(
        packed([
          [1, 'a'],
          [2, 'b'],
        ]),
      ),
      operations.handlers.delete_topic?.({ id: 1, name: 't1' }, Buffer.alloc(0)),
      operations.append(
        packed([
          [1, 'c'],
          [2, 'd'],
        ]),
      ),
    ]);
    expect([before, after]).toEqual([0, [null, 2]]);
    expect(rows()).toEqual([{ topic: 2, first: 1, last: 2, n: 2, size: 8 }]);
  });

  it('are forgotten when the commit fails, and their offsets are given out again', () => {
    db.exec('BEGIN');
    operations.beforeGroup?.();
    operations.append(packed([[1, 'lost']]));
    db.exec('ROLLBACK');
    operations.reset();
    expect(commit(() => operations.append(packed([[2, 'kept']])))).toBe(0);
    expect(rows()).toEqual([{ topic: 2, first: 0, last: 0, n: 1, size: 7 }]);
  });

  it('go as a whole once all their records may go', () => {
    commit(() => operations.append(packed(['a', 'b'].map((value) => [1, value] as const))));
    commit(() => operations.handlers.drop?.([1, 0], Buffer.alloc(0)));
    expect(valuesOf(1, -1).values).toEqual(['a', 'b']);
    commit(() => operations.handlers.drop?.([1, 1], Buffer.alloc(0)));
    expect(rows()).toEqual([]);
    // Offsets of dropped records are not assigned again, even after a restart.
    operations = recordOperations(db);
    expect(commit(() => operations.append(packed([[1, 'c']])))).toBe(2);
  });
});
