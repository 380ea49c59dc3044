import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Db } from 'mongodb';
import { BLOB_BYTES, MongoBlobStore } from './blob-store.js';
import { openTestDatabase } from '../testing/test-database.js';

let db: Db;
let drop: () => Promise<void>;
let folder: string;

beforeEach(async () => {
  ({ db, drop } = await openTestDatabase());
  folder = mkdtempSync(join(tmpdir(), 'sluice-blobs-'));
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await drop();
});

const filesIn = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true, encoding: 'utf8' })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('blobs in MongoDB', () => {
  it('have one file each in a folder that several processes use, however many ask at once', async () => {
    const [one, other] = [new MongoBlobStore(db, folder), new MongoBlobStore(db, folder)];
    const text = 'ü'.repeat(100_000);
    const hash = await new MongoBlobStore(db, folder).put(text);
    const paths = await Promise.all(Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? one : other).fileOf(hash)));
    expect(new Set(paths).size).toBe(1);
    expect(readFileSync(paths[0] ?? '', 'utf8')).toBe(text);
    expect(filesIn(folder)).toEqual([hash]);
  });

  it('get a new file when it is missing or damaged', async () => {
    const store = new MongoBlobStore(db, join(folder, 'not', 'yet', 'there'));
    const hash = await store.put('export default 1');
    const path = await store.fileOf(hash);
    writeFileSync(path, 'export def');
    expect(readFileSync(await store.fileOf(hash), 'utf8')).toBe('export default 1');
    rmSync(path);
    expect(readFileSync(await store.fileOf(hash), 'utf8')).toBe('export default 1');
  });

  it('that are staged leave few local files, however many are read', async () => {
    const store = new MongoBlobStore(db, folder);
    for (let i = 0; i < 40; i++) {
      const text = `text ${i}`;
      const staged = await store.stage([text]);
      expect(readFileSync(await store.fileOf(sha256(text)), 'utf8')).toBe(text);
      await staged.release();
    }
    expect(filesIn(folder)).toHaveLength(32);
  });

  it('that a crash left staged are removed by a staging a day later', async () => {
    const store = new MongoBlobStore(db, folder);
    for (const text of ['old', 'new']) await store.stage([text]);
    await db.collection('staged_blobs').updateOne({ text: 'old' }, { $inc: { at: -25 * 3_600_000 } });
    await store.stage(['next']);
    expect(await db.collection('staged_blobs').distinct('text')).toEqual(['new', 'next']);
  });

  it('may be as large as a document, and no larger', async () => {
    const store = new MongoBlobStore(db, folder);
    const largest = 'x'.repeat(BLOB_BYTES);
    expect((await store.get(await store.put(largest)))?.length).toBe(BLOB_BYTES);
    await expect(store.put(`${largest}x`)).rejects.toThrow(
      `a blob of ${BLOB_BYTES + 1} bytes cannot be stored: the limit is ${BLOB_BYTES}`,
    );
  });
});
