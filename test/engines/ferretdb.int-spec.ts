import { describe, expect, it } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { accepts } from '../harness/accepts.js';
import { removeDir, tempDir } from '../harness/temp-dir.js';
import { startFerretDb, type FerretDb } from './ferretdb.js';

const listens = ({ url }: FerretDb): Promise<boolean> => accepts(Number(new URL(url).port));

describe('the stand-in for MongoDB', () => {
  it('listens, dies at kill -9, restarts at the same address, and leaves nothing behind', async () => {
    const ferret = await startFerretDb();
    try {
      const { url, pid } = ferret;
      expect(await listens(ferret)).toBe(true);
      await ferret.kill9();
      expect(await listens(ferret)).toBe(false);
      await ferret.start();
      expect([ferret.url, await listens(ferret)]).toEqual([url, true]);
      expect(ferret.pid).not.toBe(pid);
    } finally {
      await ferret.stop();
    }
    expect(await listens(ferret)).toBe(false);
  }, 600_000);

  it('finishes bulk writes of several clients at once, each write guarded', async () => {
    const ferret = await startFerretDb();
    const client = new MongoClient(ferret.url);
    try {
      const documents = Array.from({ length: 200 }, (_, n) => `d${n}`);
      const write = async (name: string): Promise<number[]> => {
        const collection = client.db('bulk').collection<{ _id: string; round: number }>(name);
        const matched: number[] = [];
        for (const round of [1, 2, 2]) {
          const { matchedCount, upsertedCount } = await collection.bulkWrite(
            documents.map((_id) => ({
              updateOne: { filter: { _id, round: { $lt: round } }, update: { $set: { round } }, upsert: round === 1 },
            })),
          );
          matched.push(matchedCount + upsertedCount);
        }
        return matched;
      };
      const all = await Promise.all(['a', 'b', 'c', 'd'].map(write));
      expect(all).toEqual(Array.from({ length: 4 }, () => [200, 200, 0]));
    } finally {
      await client.close();
      await ferret.stop();
    }
  }, 60_000);

  it('reports missing Go when it cannot be built', async () => {
    const { PATH, SLUICE_ENGINES_CACHE } = process.env;
    const empty = tempDir('no-go');
    process.env.PATH = empty;
    process.env.SLUICE_ENGINES_CACHE = empty;
    try {
      await expect(startFerretDb()).rejects.toThrow(/no `go` in PATH/);
    } finally {
      process.env.PATH = PATH;
      if (SLUICE_ENGINES_CACHE === undefined) delete process.env.SLUICE_ENGINES_CACHE;
      else process.env.SLUICE_ENGINES_CACHE = SLUICE_ENGINES_CACHE;
      removeDir(empty);
    }
  });
});
