import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type TickStore } from '#libs/scheduling/tick-store.js';
import {
  type CountedMinute,
  type DailyUsage,
  KEPT_MINUTES,
  type MinuteCounts,
  NO_MINUTE_COUNTS,
  type UsageStore,
} from '#libs/tenancy/published.js';
import { type MakeHarness, type Part } from './harness.js';
import { runParts, type Omitted } from './run-parts.js';

export const VAULT_PARTS = ['secrets', 'isolation', 'listing', 'restart'] as const;
export const BLOB_STORE_PARTS = ['blobs', 'staging', 'files', 'listing', 'restart'] as const;
export const TICK_STORE_PARTS = ['ticks', 'drop', 'restart'] as const;
export const USAGE_STORE_PARTS = ['counters', 'minutes', 'restart'] as const;

export const describeVault = (name: string, make: MakeHarness<Vault>): void =>
  runParts(`Vault: ${name}`, VAULT_PARTS, vault, make);
export const describeBlobStore = (name: string, make: MakeHarness<BlobStore>): void =>
  runParts(`BlobStore: ${name}`, BLOB_STORE_PARTS, blobs, make);
export const describeBlobStoreDouble = (
  name: string,
  make: MakeHarness<BlobStore>,
  omitted: Omitted<(typeof BLOB_STORE_PARTS)[number]>,
): void => runParts(`BlobStore: ${name}`, BLOB_STORE_PARTS, blobs, make, omitted);
export const describeTickStore = (name: string, make: MakeHarness<TickStore>): void =>
  runParts(`TickStore: ${name}`, TICK_STORE_PARTS, ticks, make);
export const describeUsageStore = (name: string, make: MakeHarness<UsageStore>): void =>
  runParts(`UsageStore: ${name}`, USAGE_STORE_PARTS, usage, make);

/** More than one page of any engine. */
export const MANY = Array.from({ length: 450 }, (_, i) => i);
export const listed = async <T>(all: AsyncIterable<T>): Promise<T[]> => {
  const items: T[] = [];
  for await (const item of all) items.push(item);
  return items;
};

const vault: Record<(typeof VAULT_PARTS)[number], Part<Vault>> = {
  secrets: (store) => {
    it('come back unchanged; a repeat overwrites, a deleted one is gone', async () => {
      await store().put('sec_1', 'o_1', 'pässword');
      expect(await store().get('sec_1', 'o_1')).toBe('pässword');
      await store().put('sec_1', 'o_1', '');
      expect(await store().get('sec_1', 'o_1')).toBe('');
      await store().delete('sec_1');
      await store().delete('sec_1');
      expect(await store().get('sec_1', 'o_1')).toBeUndefined();
    });
  },
  isolation: (store) => {
    it('hides a secret from another workspace', async () => {
      await store().put('sec_1', 'o_1', 'mine');
      expect(await store().get('sec_1', 'o_2')).toBeUndefined();
      expect(await store().get('sec_2', 'o_1')).toBeUndefined();
    });
  },
  listing: (store) => {
    it('yields every secret of every workspace once, opened', async () => {
      expect(await listed(store().entries())).toEqual([]);
      const secrets = MANY.map((i) => ({ ref: `sec_${i}`, workspaceId: `o_${i % 3}`, plaintext: `ü${i}` }));
      await Promise.all(secrets.map(({ ref, workspaceId, plaintext }) => store().put(ref, workspaceId, plaintext)));
      const entries = await listed(store().entries());
      expect(entries).toHaveLength(MANY.length);
      expect(entries).toEqual(expect.arrayContaining(secrets));
    });
  },
  restart: (store, harness) => {
    it('keeps secrets', async () => {
      await store().put('sec_1', 'o_1', 'kept');
      expect(await (await harness().reopen()).get('sec_1', 'o_1')).toBe('kept');
    });
  },
};

/** SHA-256 of `naïve`. */
const NAIVE = 'f86fd89de87a848a45bfe77708d91a5d2ff48b8e4a4b98af5165af82692f8928';

const blobs: Record<(typeof BLOB_STORE_PARTS)[number], Part<BlobStore>> = {
  blobs: (store) => {
    it('are named by the hash of their bytes', async () => {
      const hash = await store().put('export default {}');
      expect(hash).toBe('9aeb8d59b4d483ca6298e9a450fbf37dfd2b4c63990135ab1d040d76314087ec');
      expect(await store().get(hash)).toBe('export default {}');
    });

    it('put twice, also concurrently, are stored once', async () => {
      const text = 'ünïcode'.repeat(10_000);
      const hashes = await Promise.all([store().put(text), store().put(text), store().put(text)]);
      expect(new Set(hashes).size).toBe(1);
      expect(await store().get(hashes[0])).toBe(text);
    });

    it('are gone once deleted, and may come back', async () => {
      const hash = await store().put('text');
      await store().delete(hash);
      await store().delete(hash);
      expect(await store().get(hash)).toBeUndefined();
      await store().put('text');
      expect(await store().get(hash)).toBe('text');
    });
  },
  staging: (store) => {
    it('lets texts be read until it is released', async () => {
      const staged = await store().stage(['naïve', 'lock']);
      expect(await store().get(NAIVE)).toBe('naïve');
      await staged.release();
      await staged.release();
      expect(await store().get(NAIVE)).toBeUndefined();
      await store().stage(['naïve']);
      expect(await store().get(NAIVE)).toBe('naïve');
    });

    it('ends no staging of the same text by another caller', async () => {
      const [one, other] = await Promise.all([store().stage(['naïve']), store().stage(['naïve', 'lock'])]);
      await one.release();
      await one.release();
      expect(await store().get(NAIVE)).toBe('naïve');
      await other.release();
      expect(await store().get(NAIVE)).toBeUndefined();
    });

    it('leaves what is put, before or meanwhile', async () => {
      const before = await store().put('lock');
      const staged = await store().stage(['naïve', 'lock']);
      await store().put('naïve');
      await staged.release();
      expect(await store().get(NAIVE)).toBe('naïve');
      expect(await store().get(before)).toBe('lock');
    });
  },
  files: (store) => {
    it('hold exactly the blob', async () => {
      const hash = await store().put('naïve');
      expect(await readFile(await store().fileOf(hash), 'utf8')).toBe('naïve');
    });
    it('hold exactly a staged blob, while it is staged', async () => {
      const staged = await store().stage(['naïve']);
      expect(await readFile(await store().fileOf(NAIVE), 'utf8')).toBe('naïve');
      await staged.release();
      await expect(store().fileOf(NAIVE)).rejects.toThrow('no blob');
    });
    it('are refused for a missing blob', async () => {
      await expect(store().fileOf('0'.repeat(64))).rejects.toThrow('no blob');
    });
  },
  listing: (store) => {
    it('yields the hash of every blob that was put once', async () => {
      expect(await listed(store().hashes())).toEqual([]);
      await store().stage(['text 0', 'staged']);
      const hashes = await Promise.all(MANY.map((i) => store().put(`text ${i}`)));
      expect((await listed(store().hashes())).sort()).toEqual(hashes.sort());
    });
  },
  restart: (store, harness) => {
    it('keeps blobs', async () => {
      const hash = await store().put('kept');
      expect(await (await harness().reopen()).get(hash)).toBe('kept');
    });
  },
};

const ticks: Record<(typeof TICK_STORE_PARTS)[number], Part<TickStore>> = {
  ticks: (store) => {
    it('are kept per timer; the later time wins', async () => {
      expect(await store().load()).toEqual(new Map());
      await store().save(
        new Map([
          ['dc_1/timer', 200],
          ['dc_2/timer', 5],
        ]),
      );
      await store().save(
        new Map([
          ['dc_1/timer', 100],
          ['dc_2/timer', 6],
        ]),
      );
      await store().save(new Map());
      expect(await store().load()).toEqual(
        new Map([
          ['dc_1/timer', 200],
          ['dc_2/timer', 6],
        ]),
      );
    });
  },
  drop: (store) => {
    it('removes every timer of a source, and no other', async () => {
      await store().save(
        new Map([
          ['dc_1/a', 1],
          ['dc_1/b', 2],
          ['dc_10/a', 3],
          ['dc_0/a', 4],
        ]),
      );
      await store().drop('dc_1');
      await store().drop('dc_1');
      expect(await store().load()).toEqual(
        new Map([
          ['dc_10/a', 3],
          ['dc_0/a', 4],
        ]),
      );
    });
  },
  restart: (store, harness) => {
    it('keeps ticks', async () => {
      await store().save(new Map([['dc_1/a', 1]]));
      expect(await (await harness().reopen()).load()).toEqual(new Map([['dc_1/a', 1]]));
    });
  },
};

const used = (invocations: number): DailyUsage => ({ invocations, computeMs: invocations * 7, credits: invocations });

const minuteOf = (minute: number, workspaceId: string, counts: Partial<MinuteCounts>): CountedMinute => ({
  workspaceId,
  minute,
  ...NO_MINUTE_COUNTS,
  ...counts,
});
const MINUTE = 29_000_000;

const usage: Record<(typeof USAGE_STORE_PARTS)[number], Part<UsageStore>> = {
  counters: (store) => {
    it('are zero where nothing was added', async () => {
      expect(await store().of(20_000, 'o_1')).toEqual({ invocations: 0, computeMs: 0, credits: 0 });
    });
    it('add up by day and workspace, also concurrent ones', async () => {
      await store().add(20_000, new Map());
      await store().add(
        20_000,
        new Map([
          ['o_1', used(2)],
          ['o_2', used(10)],
        ]),
      );
      await Promise.all(Array.from({ length: 20 }, () => store().add(20_000, new Map([['o_1', used(1)]]))));
      await store().add(20_001, new Map([['o_1', used(5)]]));
      expect(await store().of(20_000, 'o_1')).toEqual(used(22));
      expect(await store().of(20_000, 'o_2')).toEqual(used(10));
      expect(await store().of(20_001, 'o_1')).toEqual(used(5));
      expect(await store().of(20_001, 'o_2')).toEqual(used(0));
    });
  },
  minutes: (store) => {
    it('add up by minute and workspace, also concurrent ones', async () => {
      await store().addMinutes([]);
      expect(await store().minutesOf('o_1', 0)).toEqual([]);
      const both = { arrivals: 1, runs: 2, errors: 3, events: 4, attempts: 5, failed: 6 };
      await store().addMinutes([minuteOf(MINUTE + 1, 'o_1', both), minuteOf(MINUTE + 1, 'o_2', { runs: 9 })]);
      await store().addMinutes([minuteOf(MINUTE, 'o_1', { runs: 1 }), minuteOf(MINUTE + 1, 'o_1', both)]);
      const adds = Array.from({ length: 20 }, () => store().addMinutes([minuteOf(MINUTE + 2, 'o_1', { events: 1 })]));
      await Promise.all(adds);
      const doubled = { arrivals: 2, runs: 4, errors: 6, events: 8, attempts: 10, failed: 12 };
      expect(await store().minutesOf('o_1', 0)).toEqual([
        minuteOf(MINUTE, 'o_1', { runs: 1 }),
        minuteOf(MINUTE + 1, 'o_1', doubled),
        minuteOf(MINUTE + 2, 'o_1', { events: 20 }),
      ]);
      expect(await store().minutesOf('o_1', MINUTE + 2)).toEqual([minuteOf(MINUTE + 2, 'o_1', { events: 20 })]);
      expect(await store().minutesOf('o_2', MINUTE)).toEqual([minuteOf(MINUTE + 1, 'o_2', { runs: 9 })]);
    });

    it('are forgotten when they are old', async () => {
      await store().addMinutes([minuteOf(MINUTE, 'o_1', { runs: 1 }), minuteOf(MINUTE + 1, 'o_1', { runs: 2 })]);
      await store().addMinutes([minuteOf(MINUTE + 1 + KEPT_MINUTES, 'o_2', { runs: 3 })]);
      expect(await store().minutesOf('o_1', 0)).toEqual([minuteOf(MINUTE + 1, 'o_1', { runs: 2 })]);
    });
  },
  restart: (store, harness) => {
    it('keeps minutes', async () => {
      await store().addMinutes([minuteOf(MINUTE, 'o_1', { runs: 1 })]);
      expect(await (await harness().reopen()).minutesOf('o_1', 0)).toEqual([minuteOf(MINUTE, 'o_1', { runs: 1 })]);
    });
    it('keeps counters', async () => {
      await store().add(20_000, new Map([['o_1', used(3)]]));
      expect(await (await harness().reopen()).of(20_000, 'o_1')).toEqual(used(3));
    });
  },
};
