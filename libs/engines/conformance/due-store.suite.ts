import { expect, it } from '@jest/globals';
import { type DueEntry, type DueStore } from '#libs/due/due-store.js';
import { type MakeHarness, type Part } from './harness.js';
import { runParts } from './run-parts.js';
import { listed, MANY } from './small-stores.suite.js';

export const DUE_STORE_PARTS = [
  'order',
  'out',
  'replace',
  'owner',
  'remove',
  'announcement',
  'listing',
  'restart',
] as const;

export const describeDueStore = (name: string, make: MakeHarness<DueStore>): void =>
  runParts(`DueStore: ${name}`, DUE_STORE_PARTS, parts, make);

const waiting = (id: string, dueAt: number, owner = 'wh_1'): DueEntry => ({
  id,
  owner,
  kind: 'delivery',
  dueAt,
  record: { key: owner, headers: { id, attempt: '2' }, value: '{"a":"ü"}' },
});
const idsOf = (entries: readonly DueEntry[]): string[] => entries.map(({ id }) => id);

/** Sets the due entries to `out`. */
const setOut = async (store: DueStore, now: number, until: number): Promise<void> =>
  store.setOut((await store.dueBy(now, 100)).map((entry) => ({ entry, until })));

/** Ends a listing that the writer keeps from ending. */
const MOST_LISTED = 5_000;

/** Lists while a writer adds more entries at the end than are listed. */
const listedWhileAdded = async <T>(all: AsyncIterable<T>, add: (n: number) => Promise<void>): Promise<T[]> => {
  const items: T[] = [];
  for await (const item of all) {
    items.push(item);
    if (items.length > MOST_LISTED) throw new Error('the reader follows the writer');
    if (items.length % 50 === 0) await add(items.length);
  }
  return items;
};

const parts: Record<(typeof DUE_STORE_PARTS)[number], Part<DueStore>> = {
  out: (store) => {
    it('makes an entry due again later, and leaves it waiting with its own due time', async () => {
      await store().put([waiting('a', 10), waiting('b', 20)]);
      await setOut(store(), 15, 60);
      expect(idsOf(await store().dueBy(59, 10))).toEqual(['b']);
      expect(await store().nextDueAt()).toBe(20);
      expect(await store().dueBy(60, 10)).toEqual([
        { ...waiting('b', 20), since: 20, timesOut: 0 },
        { ...waiting('a', 10), since: 60, timesOut: 1 },
      ]);
      await setOut(store(), 60, 90);
      expect((await store().dueBy(90, 10)).map(({ id, timesOut }) => [id, timesOut])).toEqual([
        ['a', 2],
        ['b', 1],
      ]);
      expect(await store().nextDueAt()).toBe(90);
      const waits = (await store().waitingOf('wh_1')).map(({ dueAt }) => dueAt);
      expect(waits.sort()).toEqual([10, 20]);
      expect([await store().countsOf(['wh_1']), await store().has('a'), await store().has('c')]).toEqual([
        [2],
        true,
        false,
      ]);
      expect(await listed(store().all())).toEqual(expect.arrayContaining([waiting('a', 10), waiting('b', 20)]));
    });
    it('passes over what was put again, set out or removed since it was read, and does nothing twice', async () => {
      await store().put([waiting('a', 10), waiting('b', 10), waiting('c', 10), waiting('d', 10)]);
      const read = await store().dueBy(10, 10);
      await store().put([waiting('a', 30)]);
      await store().remove(['b']);
      await store().setOut(read.filter(({ id }) => id === 'c').map((entry) => ({ entry, until: 40 })));
      await store().setOut(read.map((entry) => ({ entry, until: 50 })));
      await store().setOut(read.map((entry) => ({ entry, until: 50 })));
      await store().setOut([]);
      const due = (await store().dueBy(100, 10)).map(({ id, since, timesOut }) => [id, since, timesOut]);
      expect(due).toEqual([
        ['a', 30, 0],
        ['c', 40, 1],
        ['d', 50, 1],
      ]);
    });
    it('ends when the entry is put again, and what was read before changes nothing then', async () => {
      await store().put([waiting('a', 10)]);
      await setOut(store(), 10, 60);
      await store().put([waiting('a', 20)]);
      expect(await store().dueBy(20, 10)).toEqual([{ ...waiting('a', 20), since: 20, timesOut: 0 }]);
    });
  },
  order: (store) => {
    it('returns due entries, earliest first, up to a limit, until they are removed', async () => {
      await store().put([waiting('c', 30), waiting('a', 10), waiting('b', 20), waiting('d', 40)]);
      expect(idsOf(await store().dueBy(30, 10))).toEqual(['a', 'b', 'c']);
      expect(idsOf(await store().dueBy(30, 2))).toEqual(['a', 'b']);
      expect(await store().dueBy(9, 10)).toEqual([]);
      expect((await store().dueBy(10, 10))[0]).toEqual({ ...waiting('a', 10), since: 10, timesOut: 0 });
    });
    it('passes over the entries of some owners', async () => {
      await store().put([waiting('a', 10, 'wh_1'), waiting('b', 20, 'wh_2'), waiting('c', 30, 'wh_1')]);
      await store().put([waiting('d', 40, 'wh_3'), waiting('e', 50, 'wh_2')]);
      expect(idsOf(await store().dueBy(50, 2, ['wh_1', "o'wh"]))).toEqual(['b', 'd']);
      expect(idsOf(await store().dueBy(50, 9, ['wh_1', 'wh_2']))).toEqual(['d']);
      expect(await store().dueBy(50, 9, ['wh_3', 'wh_1', 'wh_2'])).toEqual([]);
    });
    it('returns large entries a few at a time, and eventually all', async () => {
      const value = JSON.stringify('x'.repeat(1 << 20));
      const large = Array.from({ length: 12 }, (_, n) => {
        const entry = waiting(`l${String(n).padStart(2, '0')}`, n);
        return { ...entry, record: { ...entry.record, value } };
      });
      for (const entry of large) await store().put([entry]);
      const seen: unknown[] = [];
      for (let due = await store().dueBy(50, 100); due.length > 0; due = await store().dueBy(50, 100)) {
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
      expect(await store().dueBy(49, 10)).toEqual([]);
      expect(idsOf(await store().dueBy(50, 10))).toEqual(['a']);
      expect(await store().countsOf(['wh_1'])).toEqual([1]);
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
      expect(await store().countsOf(['wh_2', 'x', 'wh_1'])).toEqual([1, 0, 1]);
      expect(await store().countsOf([])).toEqual([]);
      await store().removeOwner('wh_1');
      await store().removeOwner('wh_1');
      expect(idsOf(await store().dueBy(100, 10))).toEqual(['c']);
    });
  },
  announcement: (store) => {
    it('tells those who listen of the earliest entry that was put, until they stop', async () => {
      const told: number[] = [];
      const stop = store().onPut((dueAt) => told.push(dueAt));
      await store().put([waiting('a', 20), waiting('b', 10), waiting('c', 30)]);
      await store().put([]);
      await store().put([waiting('a', 40)]);
      stop();
      await store().put([waiting('a', 50)]);
      expect(told).toEqual([10, 40]);
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
      const behind = (from: number): DueEntry[] =>
        Array.from({ length: 60 }, (_, i) => waiting(`z_${String(from * 60 + i).padStart(9, '0')}`, 5));
      const all = await listedWhileAdded(store().all(), (n) => store().put(behind(n)));
      expect(all).toHaveLength(MANY.length);
    });
  },
  restart: (store, harness) => {
    it('keeps waiting entries', async () => {
      await store().put([waiting('a', 10)]);
      const [entry] = await (await harness().reopen()).dueBy(10, 10);
      expect(entry).toMatchObject(waiting('a', 10));
    });
    it('keeps the lease of an entry that is out', async () => {
      await store().put([waiting('a', 10)]);
      await setOut(store(), 10, 60);
      const reopened = await harness().reopen();
      expect(await reopened.dueBy(59, 10)).toEqual([]);
      expect(await reopened.dueBy(60, 10)).toEqual([{ ...waiting('a', 10), since: 60, timesOut: 1 }]);
    });
  },
};
