import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddedBlobStore } from './blob-store.js';

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-blobs-'));
});
afterEach(() => rm(dir, { recursive: true }));

const filesIn = async (): Promise<string[]> =>
  (await readdir(dir, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

describe('files of staged blobs', () => {
  it('go with the last release', async () => {
    const store = await EmbeddedBlobStore.open(dir);
    const staged = await Promise.all([store.stage(['a', 'b']), store.stage(['b'])]);
    expect(await filesIn()).toHaveLength(2);
    for (const { release } of staged) await release();
    expect(await filesIn()).toEqual([]);
  });

  it('that a crash left are removed at the next start', async () => {
    const crashed = await EmbeddedBlobStore.open(dir);
    await crashed.stage(['staged']);
    const hash = await crashed.put('put');
    await EmbeddedBlobStore.open(dir);
    expect(await filesIn()).toEqual([hash]);
  });

  it('are not left by a staging that fails', async () => {
    const store = await EmbeddedBlobStore.open(dir);
    const texts = ['whole', undefined as unknown as string];
    await expect(store.stage(texts)).rejects.toThrow();
    expect(await filesIn()).toEqual([]);
  });
});
