import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type RetrySchedule, type ScheduledRetry } from '#libs/delivery/retry-schedule.js';
import { type TickStore } from '#libs/scheduling/tick-store.js';
import { type DailyUsage, type UsageStore } from '#libs/tenancy/published.js';
import { type MakeHarness, type Part } from './harness.js';
import { eventually } from './eventually.js';
import { runParts, type Omitted } from './run-parts.js';

export const VAULT_PARTS = ['secrets', 'isolation', 'listing', 'restart'] as const;
export const BLOB_STORE_PARTS = ['blobs', 'files', 'listing', 'restart'] as const;
export const RETRY_SCHEDULE_PARTS = ['order', 'replace', 'owner', 'remove', 'size', 'listing', 'restart'] as const;
export const TICK_STORE_PARTS = ['ticks', 'drop', 'restart'] as const;
export const USAGE_STORE_PARTS = ['counters', 'restart'] as const;

export const describeVault = (name: string, make: MakeHarness<Vault>): void =>
  runParts(`Vault: ${name}`, VAULT_PARTS, vault, make);
export const describeBlobStore = (name: string, make: MakeHarness<BlobStore>): void =>
  runParts(`BlobStore: ${name}`, BLOB_STORE_PARTS, blobs, make);
export const describeBlobStoreDouble = (
  name: string,
  make: MakeHarness<BlobStore>,
  omitted: Omitted<(typeof BLOB_STORE_PARTS)[number]>,
): void => runParts(`BlobStore: ${name}`, BLOB_STORE_PARTS, blobs, make, omitted);
export const describeRetrySchedule = (name: string, make: MakeHarness<RetrySchedule>): void =>
  runParts(`RetrySchedule: ${name}`, RETRY_SCHEDULE_PARTS, schedule, make);
export const describeTickStore = (name: string, make: MakeHarness<TickStore>): void =>
  runParts(`TickStore: ${name}`, TICK_STORE_PARTS, ticks, make);
export const describeUsageStore = (name: string, make: MakeHarness<UsageStore>): void =>
  runParts(`UsageStore: ${name}`, USAGE_STORE_PARTS, usage, make);

/** More than one page of any engine. */
const MANY = Array.from({ length: 450 }, (_, i) => i);
const listed = async <T>(all: AsyncIterable<T>): Promise<T[]> => {
  const items: T[] = [];
  for await (const item of all) items.push(item);
  return items;
};

/** Ends a listing that the writer keeps from ending. */
const MOST_LISTED = 5_000;

/** Lists while a writer always adds more, behind all that is there, than was listed. */
const listedWhileAdded = async <T>(all: AsyncIterable<T>, add: (n: number) => Promise<void>): Promise<T[]> => {
  const items: T[] = [];
  for await (const item of all) {
    items.push(item);
    if (items.length > MOST_LISTED) throw new Error('the reader follows the writer');
    if (items.length % 50 === 0) await add(items.length);
  }
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
  files: (store) => {
    it('hold exactly the blob', async () => {
      const hash = await store().put('naïve');
      expect(await readFile(await store().fileOf(hash), 'utf8')).toBe('naïve');
    });
    it('are refused for a missing blob', async () => {
      await expect(store().fileOf('0'.repeat(64))).rejects.toThrow('no blob');
    });
  },
  listing: (store) => {
    it('yields the hash of every existing blob once', async () => {
      expect(await listed(store().hashes())).toEqual([]);
      const hashes = await Promise.all(MANY.map((i) => store().put(`text ${i}`)));
      await store().delete(hashes[0] ?? '');
      expect((await listed(store().hashes())).sort()).toEqual(hashes.slice(1).sort());
    });
  },
  restart: (store, harness) => {
    it('keeps blobs', async () => {
      const hash = await store().put('kept');
      expect(await (await harness().reopen()).get(hash)).toBe('kept');
    });
  },
};

const waiting = (id: string, dueAt: number, owner = 'wh_1'): ScheduledRetry => ({
  id,
  owner,
  dueAt,
  record: { topic: `deliveries.${owner}`, key: owner, headers: { id, attempt: '2' }, value: '{"a":"ü"}' },
});
const idsOf = (entries: readonly ScheduledRetry[]): string[] => entries.map(({ id }) => id);

const schedule: Record<(typeof RETRY_SCHEDULE_PARTS)[number], Part<RetrySchedule>> = {
  order: (store) => {
    it('returns due entries, earliest first, up to a limit, until they are removed', async () => {
      await store().put([waiting('c', 30), waiting('a', 10), waiting('b', 20), waiting('d', 40)]);
      expect(idsOf(await store().due(30, 10))).toEqual(['a', 'b', 'c']);
      expect(idsOf(await store().due(30, 2))).toEqual(['a', 'b']);
      expect(await store().due(9, 10)).toEqual([]);
      expect((await store().due(10, 10))[0]).toEqual(waiting('a', 10));
    });
    it('passes over the entries of some owners', async () => {
      await store().put([waiting('a', 10, 'wh_1'), waiting('b', 20, 'wh_2'), waiting('c', 30, 'wh_1')]);
      await store().put([waiting('d', 40, 'wh_3'), waiting('e', 50, 'wh_2')]);
      expect(idsOf(await store().due(50, 2, ['wh_1', "o'wh"]))).toEqual(['b', 'd']);
      expect(idsOf(await store().due(50, 9, ['wh_1', 'wh_2']))).toEqual(['d']);
      expect(await store().due(50, 9, ['wh_3', 'wh_1', 'wh_2'])).toEqual([]);
    });
    it('returns large entries a few at a time, and eventually all', async () => {
      const value = JSON.stringify('x'.repeat(1 << 20));
      const large = Array.from({ length: 12 }, (_, n) => {
        const entry = waiting(`l${String(n).padStart(2, '0')}`, n);
        return { ...entry, record: { ...entry.record, value } };
      });
      for (const entry of large) await store().put([entry]);
      const seen: unknown[] = [];
      for (let due = await store().due(50, 100); due.length > 0; due = await store().due(50, 100)) {
        expect(due.length).toBeLessThanOrEqual(12);
        seen.push(...idsOf(due));
        await store().remove(due.map(({ id }) => id));
      }
      expect(seen).toEqual(large.map(({ id }) => id));
    });

    it('knows when the next is due', async () => {
      expect(await store().nextDueAt()).toBeUndefined();
      await store().put([waiting('b', 20), waiting('a', 10)]);
      expect(await store().nextDueAt()).toBe(10);
      await store().remove(['a']);
      expect(await store().nextDueAt()).toBe(20);
    });
  },
  replace: (store) => {
    it('the entry of the same id', async () => {
      await store().put([waiting('a', 10)]);
      await store().put([waiting('a', 50)]);
      expect(await store().due(49, 10)).toEqual([]);
      expect(idsOf(await store().due(50, 10))).toEqual(['a']);
      expect(await store().countOf('wh_1')).toBe(1);
    });
  },
  owner: (store) => {
    it('lists the headers of what waits for an owner', async () => {
      const { record } = waiting('a', 10);
      await store().put([waiting('a', 10), waiting('b', 20), waiting('c', 30, 'wh_2')]);
      const found = [...(await store().waitingOf('wh_1'))].sort((one, other) => one.dueAt - other.dueAt);
      expect(found).toEqual([
        { headers: record.headers, dueAt: 10 },
        { headers: waiting('b', 20).record.headers, dueAt: 20 },
      ]);
      expect(await store().waitingOf('wh_3')).toEqual([]);
    });
  },
  remove: (store) => {
    it('by id and by owner, twice without harm', async () => {
      await store().put([waiting('a', 1), waiting('b', 2), waiting('c', 3, 'wh_2')]);
      await store().remove(['a', 'none']);
      await store().remove(['a']);
      await store().remove([]);
      expect([await store().countOf('wh_1'), await store().countOf('wh_2'), await store().countOf('x')]).toEqual([
        1, 1, 0,
      ]);
      await store().removeOwner('wh_1');
      await store().removeOwner('wh_1');
      expect(idsOf(await store().due(100, 10))).toEqual(['c']);
    });
  },
  size: (store, harness) => {
    const bytes = (...entries: ScheduledRetry[]): number =>
      entries.reduce((sum, { record }) => sum + Buffer.byteLength(JSON.stringify(record)), 0);
    const padded = (entry: ScheduledRetry, pad: number): ScheduledRetry => ({
      ...entry,
      record: { ...entry.record, value: JSON.stringify('ü'.repeat(pad)) },
    });
    /** Immediate where one process owns the schedule. */
    const holds = (owner: string, expected: number): Promise<void> =>
      eventually(`${expected} bytes of ${owner}`, () => store().bytesOf(owner) === expected);

    it('counts the waiting entries of each owner, grows, shrinks, and is the same after a restart', async () => {
      expect(store().bytesOf('wh_1')).toBe(0);
      const [a, b, c] = [padded(waiting('a', 1), 1_000), padded(waiting('b', 2), 10), waiting('c', 3, 'wh_2')];
      await Promise.all([store().put([a, b]), store().put([c])]);
      await holds('wh_1', bytes(a, b));
      await holds('wh_2', bytes(c));
      await harness().reopen();
      await holds('wh_1', bytes(a, b));
      await store().remove(['a', 'a', 'none']);
      await holds('wh_1', bytes(b));
      await store().remove(['b']);
      await holds('wh_1', 0);
      await holds('wh_2', bytes(c));
    });

    it('counts a replaced entry once, for its new owner', async () => {
      await store().put([padded(waiting('a', 1), 1_000), padded(waiting('a', 1), 2_000)]);
      await holds('wh_1', bytes(padded(waiting('a', 1), 2_000)));
      await store().put([padded(waiting('a', 5), 20)]);
      await holds('wh_1', bytes(padded(waiting('a', 5), 20)));
      await store().put([waiting('a', 5, 'wh_2')]);
      await holds('wh_1', 0);
      await holds('wh_2', bytes(waiting('a', 5, 'wh_2')));
    });

    it('is zero once the owner is dropped', async () => {
      await store().put([waiting('a', 1), waiting('b', 2), waiting('c', 3, 'wh_2')]);
      await store().removeOwner('wh_1');
      await holds('wh_1', 0);
      await holds('wh_2', bytes(waiting('c', 3, 'wh_2')));
    });
  },
  listing: (store) => {
    it('yields every entry once, whenever due', async () => {
      expect(await listed(store().all())).toEqual([]);
      const entries = MANY.map((i) => waiting(`id_${i}`, i % 7, `wh_${i % 3}`));
      await store().put(entries);
      const all = await listed(store().all());
      expect(all).toHaveLength(MANY.length);
      expect(all).toEqual(expect.arrayContaining(entries));
    });

    it('ends at what was there at the call, while others add entries without a pause', async () => {
      await store().put(MANY.map((i) => waiting(`id_${i}`, 5)));
      const behind = (from: number): ScheduledRetry[] =>
        Array.from({ length: 60 }, (_, i) => waiting(`z_${String(from * 60 + i).padStart(9, '0')}`, 5));
      const all = await listedWhileAdded(store().all(), (n) => store().put(behind(n)));
      expect(all).toHaveLength(MANY.length);
    });
  },
  restart: (store, harness) => {
    it('keeps waiting entries', async () => {
      await store().put([waiting('a', 10)]);
      expect(await (await harness().reopen()).due(10, 10)).toEqual([waiting('a', 10)]);
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
  restart: (store, harness) => {
    it('keeps counters', async () => {
      await store().add(20_000, new Map([['o_1', used(3)]]));
      expect(await (await harness().reopen()).of(20_000, 'o_1')).toEqual(used(3));
    });
  },
};
