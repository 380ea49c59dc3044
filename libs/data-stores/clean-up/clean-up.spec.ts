import { afterEach, describe, expect, it } from '@jest/globals';
import { type DomainEvent } from '#libs/kernel/events.js';
import { ControlPlane } from '#libs/kernel/testing/control-plane.js';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { dataStoreAccess } from '../data-store-access.js';
import { DataStoresView } from '../data-stores-view.js';
import { dataStoresProjection } from '../read-models/data-stores.projection.js';
import { InMemoryRecords } from '../in-memory-records.js';
import { DataStoreCleanUpReactor } from './data-store-clean-up.reactor.js';
import { startRecordSweeper } from './record-sweeper.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const NOW = 1_700_000_000_000;
const created = (storeId: string): DomainEvent => ({
  type: 'DataStoreCreated',
  data: { storeId, userId: 'u_1', name: storeId, createdAt: NOW },
});
const deleted: DomainEvent = { type: 'DataStoreDeleted', data: { deletedAt: NOW } };
const record = (storeId: string, key: string, expiresAt: number | null = null) => ({
  storeId,
  workspaceId: 'o_1',
  key,
  value: '1',
  expiresAt,
});
const keysOf = async (records: InMemoryRecords): Promise<string[]> => {
  const keys: string[] = [];
  for await (const each of records.all()) keys.push(`${each.storeId}/${each.key}`);
  return keys.sort();
};
const eventually = async (holds: () => Promise<boolean> | boolean): Promise<void> => {
  for (let round = 0; round < 5_000; round++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error('it did not become true');
};

describe('the deletion of a data store', () => {
  /** Fails as often as `failures` says. A failed clear has removed one record. */
  class FlakyRecords extends InMemoryRecords {
    failures = 0;
    override async clear(storeId: string): Promise<void> {
      if (this.failures-- > 0) {
        await this.delete(storeId, 'a', NOW);
        throw new Error('the disk is slow');
      }
      return super.clear(storeId);
    }
  }

  it('removes its records and no others, also when the first attempts fail halfway', async () => {
    const records = new FlakyRecords();
    for (const each of [record('ds_1', 'a'), record('ds_1', 'b'), record('ds_2', 'a')]) await records.set(each, NOW);
    const plane = await ControlPlane.start({
      projections: [dataStoresProjection],
      reactors: () => [new DataStoreCleanUpReactor(records)],
    });
    closing.push(() => plane.stop());
    await plane.happened('datastore-ds_1', created('ds_1'));
    await plane.happened('datastore-ds_2', created('ds_2'));
    await plane.idle();
    expect(await keysOf(records)).toHaveLength(3);
    records.failures = 2;
    await plane.happened('datastore-ds_1', deleted);
    await plane.idle();
    expect(await keysOf(records)).toEqual(['ds_2/a']);
    // Two attempts failed, and the third one did it.
    expect(records.failures).toBe(-1);
  });

  it('handled again after a crash changes nothing more', async () => {
    const records = new InMemoryRecords();
    const reactor = new DataStoreCleanUpReactor(records);
    expect(reactor.eventTypes).toEqual(['DataStoreDeleted']);
    await records.set(record('ds_2', 'a'), NOW);
    for (let time = 0; time < 2; time++) await reactor.handle(recorded('datastore-ds_1', deleted));
    expect(await keysOf(records)).toEqual(['ds_2/a']);
  });
});

describe('the sweeper', () => {
  const world = (ids: readonly string[] = []) => {
    const records = new InMemoryRecords();
    const view = new DataStoresView();
    const failures: unknown[] = [];
    const clock = { time: NOW, now: (): number => clock.time };
    for (const id of ids) view.apply(recorded(`datastore-${id}`, created(id)));
    const start = (over: Partial<Parameters<typeof startRecordSweeper>[0]> = {}): void => {
      const onFailure = (error: unknown): number => failures.push(error);
      const sweeper = startRecordSweeper({ records, view, clock, onFailure, everyMs: 1, ...over });
      closing.push(() => sweeper.stop());
    };
    const remove = (id: string): void => view.apply(recorded(`datastore-${id}`, deleted));
    return { records, view, clock, failures, start, remove };
  };

  it('removes records from their end on, and leaves the others', async () => {
    const { records, clock, start } = world(['ds_1']);
    await records.set(record('ds_1', 'ever'), NOW);
    await records.set(record('ds_1', 'short', NOW + 10), NOW);
    await records.set(record('ds_1', 'long', NOW + 11), NOW);
    start();
    await eventually(async () => (await records.expire(NOW)) === 0);
    expect(await keysOf(records)).toEqual(['ds_1/ever', 'ds_1/long', 'ds_1/short']);
    clock.time = NOW + 10;
    await eventually(async () => (await keysOf(records)).length < 3);
    expect(await keysOf(records)).toEqual(['ds_1/ever', 'ds_1/long']);
  });

  it('removes what a run wrote after the deletion of its data store', async () => {
    const { records, start, remove } = world(['ds_1', 'ds_2']);
    await records.set(record('ds_2', 'a'), NOW);
    start();
    remove('ds_1');
    await records.set(record('ds_1', 'late'), NOW);
    await eventually(async () => (await keysOf(records)).length === 1);
    await records.set(record('ds_1', 'later'), NOW);
    await eventually(async () => (await keysOf(records)).length === 1);
    expect(await keysOf(records)).toEqual(['ds_2/a']);
  });

  it('looks at every deletion once at its start, and later at the latest 100', async () => {
    const ids = Array.from({ length: 130 }, (_, n) => `ds_${n}`);
    const { records, start, remove } = world(ids);
    for (const id of ids) remove(id);
    await records.set(record('ds_0', 'a'), NOW);
    const cleared: string[] = [];
    const counted = Object.assign(Object.create(records) as InMemoryRecords, {
      clear: async (id: string): Promise<void> => {
        cleared.push(id);
        await records.clear(id);
      },
    });
    start({ records: counted });
    await eventually(() => cleared.length >= 230);
    expect(cleared.slice(0, 130)).toEqual(ids);
    expect(cleared.slice(130, 230)).toEqual(ids.slice(30));
    expect(await keysOf(records)).toEqual([]);
  });

  it('reports a failure, and goes on with the next pass', async () => {
    const { records, failures, start, remove } = world(['ds_1']);
    await records.set(record('ds_1', 'a'), NOW);
    remove('ds_1');
    let isBroken = true;
    const broken = Object.assign(Object.create(records) as InMemoryRecords, {
      clear: async (id: string): Promise<void> => {
        if (isBroken) throw new Error('the disk is full');
        await records.clear(id);
      },
    });
    start({ records: broken });
    await eventually(() => failures.length > 0);
    expect(await keysOf(records)).toEqual(['ds_1/a']);
    isBroken = false;
    await eventually(async () => (await keysOf(records)).length === 0);
  });

  it('ends when it is stopped, also between two passes', async () => {
    const { records, view, clock } = world();
    const sweeper = startRecordSweeper({ records, view, clock, onFailure: () => undefined });
    await sweeper.stop();
    await records.set(record('ds_1', 'over', NOW), NOW - 1);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await keysOf(records)).toEqual(['ds_1/over']);
  });
});

describe('calls of user code', () => {
  it('find no data store that is deleted, or of another workspace, and write nothing there', async () => {
    const records = new InMemoryRecords();
    const view = new DataStoresView();
    view.apply(recorded('datastore-ds_1', created('ds_1')));
    const failures: unknown[] = [];
    const access = dataStoreAccess({
      records,
      view,
      clock: { now: () => NOW },
      onFailure: (error) => failures.push(error),
    });
    const set = { op: 'set', key: 'a', value: '1', number: null } as const;
    await access.call('ds_1', 'o_1', set);
    expect(await keysOf(records)).toEqual(['ds_1/a']);
    const notFound = { code: 'data_store.not_found', message: expect.stringContaining('ds_1') };
    await expect(access.call('ds_1', 'o_2', set)).rejects.toMatchObject(notFound);
    view.apply(recorded('datastore-ds_1', deleted));
    for (const op of ['get', 'has', 'set', 'setTtl', 'delete', 'clear', 'size', 'incr', 'keys', 'entries'] as const)
      await expect(access.call('ds_1', 'o_1', { ...set, op, number: 1 })).rejects.toMatchObject(notFound);
    expect(failures).toEqual([]);
    // The records are removed by the clean-up, not by the refused calls.
    expect(await keysOf(records)).toEqual(['ds_1/a']);
  });
});
