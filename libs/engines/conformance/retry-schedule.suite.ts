import { expect, it } from '@jest/globals';
import { type RetrySchedule, type ScheduledRetry } from '#libs/delivery/retry-schedule.js';
import { eventually } from './eventually.js';
import { type MakeHarness, type Part } from './harness.js';
import { runParts } from './run-parts.js';
import { listed, MANY } from './small-stores.suite.js';

export const RETRY_SCHEDULE_PARTS = [
  'order',
  'hand out',
  'replace',
  'owner',
  'remove',
  'size',
  'listing',
  'restart',
] as const;

export const describeRetrySchedule = (name: string, make: MakeHarness<RetrySchedule>): void =>
  runParts(`RetrySchedule: ${name}`, RETRY_SCHEDULE_PARTS, schedule, make);

const waiting = (id: string, dueAt: number, owner = 'wh_1'): ScheduledRetry => ({
  id,
  owner,
  dueAt,
  record: { topic: `deliveries.${owner}`, key: owner, headers: { id, attempt: '2' }, value: '{"a":"ü"}' },
});
const idsOf = (entries: readonly ScheduledRetry[]): string[] => entries.map(({ id }) => id);

/** Hands out what is due. */
const handOut = async (store: RetrySchedule, now: number, until: number): Promise<void> =>
  store.handOut((await store.due(now, 100)).map((entry) => ({ entry, until })));

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

const schedule: Record<(typeof RETRY_SCHEDULE_PARTS)[number], Part<RetrySchedule>> = {
  'hand out': (store) => {
    it('makes an entry due again later, and leaves it waiting with its own due time', async () => {
      await store().put([waiting('a', 10), waiting('b', 20)]);
      await handOut(store(), 15, 60);
      expect(idsOf(await store().due(59, 10))).toEqual(['b']);
      expect(await store().nextDueAt()).toBe(20);
      expect(await store().due(60, 10)).toEqual([
        { ...waiting('b', 20), since: 20, handedOut: 0 },
        { ...waiting('a', 10), since: 60, handedOut: 1 },
      ]);
      await handOut(store(), 60, 90);
      expect((await store().due(90, 10)).map(({ id, handedOut }) => [id, handedOut])).toEqual([
        ['a', 2],
        ['b', 1],
      ]);
      expect(await store().nextDueAt()).toBe(90);
      const waits = (await store().waitingOf('wh_1')).map(({ dueAt }) => dueAt);
      expect(waits.sort()).toEqual([10, 20]);
      expect([await store().countOf('wh_1'), await store().has('a'), await store().has('c')]).toEqual([2, true, false]);
      expect(await listed(store().all())).toEqual(expect.arrayContaining([waiting('a', 10), waiting('b', 20)]));
    });
    it('passes over what was put again, handed out or removed since it was read, and does nothing twice', async () => {
      await store().put([waiting('a', 10), waiting('b', 10), waiting('c', 10), waiting('d', 10)]);
      const read = await store().due(10, 10);
      await store().put([waiting('a', 30)]);
      await store().remove(['b']);
      await store().handOut(read.filter(({ id }) => id === 'c').map((entry) => ({ entry, until: 40 })));
      await store().handOut(read.map((entry) => ({ entry, until: 50 })));
      await store().handOut(read.map((entry) => ({ entry, until: 50 })));
      await store().handOut([]);
      const due = (await store().due(100, 10)).map(({ id, since, handedOut }) => [id, since, handedOut]);
      expect(due).toEqual([
        ['a', 30, 0],
        ['c', 40, 1],
        ['d', 50, 1],
      ]);
    });
    it('ends when the entry is put again', async () => {
      await store().put([waiting('a', 10)]);
      await handOut(store(), 10, 60);
      await store().put([waiting('a', 20)]);
      expect(await store().due(20, 10)).toEqual([{ ...waiting('a', 20), since: 20, handedOut: 0 }]);
    });
  },
  order: (store) => {
    it('returns due entries, earliest first, up to a limit, until they are removed', async () => {
      await store().put([waiting('c', 30), waiting('a', 10), waiting('b', 20), waiting('d', 40)]);
      expect(idsOf(await store().due(30, 10))).toEqual(['a', 'b', 'c']);
      expect(idsOf(await store().due(30, 2))).toEqual(['a', 'b']);
      expect(await store().due(9, 10)).toEqual([]);
      expect((await store().due(10, 10))[0]).toEqual({ ...waiting('a', 10), since: 10, handedOut: 0 });
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
      const [entry] = await (await harness().reopen()).due(10, 10);
      expect(entry).toMatchObject(waiting('a', 10));
    });
    it('keeps for how long an entry is handed out', async () => {
      await store().put([waiting('a', 10)]);
      await handOut(store(), 10, 60);
      const reopened = await harness().reopen();
      expect(await reopened.due(59, 10)).toEqual([]);
      expect(await reopened.due(60, 10)).toEqual([{ ...waiting('a', 10), since: 60, handedOut: 1 }]);
    });
  },
};
