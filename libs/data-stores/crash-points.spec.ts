import { describe, expect, it } from '@jest/globals';
import { DomainError } from '#libs/kernel/domain-error.js';
import { contextOf, DataStoreDisk, DataStoreProcess } from './testing/names-world.js';

/** Age from which a reservation counts as left by a crash. */
const ABANDONED_MS = 60_000;

/** Kills the process at each of the operation's writes, before the write and after it, and checks what is left. */
const atEachWrite = async (
  prepare: (process: DataStoreProcess) => Promise<string>,
  operate: (process: DataStoreProcess, id: string) => Promise<unknown>,
  check: (disk: DataStoreDisk, id: string, at: string) => Promise<void>,
): Promise<number> => {
  const whole = new DataStoreDisk();
  const wholeId = await prepare(await DataStoreProcess.start(whole));
  const complete = await DataStoreProcess.start(whole);
  await operate(complete, wholeId);
  for (let at = 0; at < complete.writes; at++) {
    for (const isWritten of [false, true]) {
      const disk = new DataStoreDisk();
      const id = await prepare(await DataStoreProcess.start(disk));
      const dying = await DataStoreProcess.start(disk, { at, isWritten });
      await expect(operate(dying, id)).rejects.toThrow('the process has died');
      await check(disk, id, `write ${at}, ${isWritten ? 'after' : 'before'}`);
    }
  }
  return complete.writes;
};

/** Asks for each name as a deployment does. Each leads to one data store, which has that name, on every ask. */
const expectEachNameLeadsToOne = async (disk: DataStoreDisk, ...names: readonly string[]): Promise<void> => {
  const process = await DataStoreProcess.start(disk);
  const ids: string[] = [];
  for (const name of names) {
    const { store } = await process.names.named(name, contextOf());
    expect(store.name).toBe(name);
    expect((await process.names.named(name, contextOf())).store.id).toBe(store.id);
    ids.push(store.id);
  }
  expect(new Set(ids).size).toBe(names.length);
};

const nothing = async (): Promise<string> => '';
const orders = async (process: DataStoreProcess): Promise<string> => (await process.create('orders')).store.id;

describe('a process that dies while it creates a data store', () => {
  it('leaves a name that the next creation takes, at once', async () => {
    const writes = await atEachWrite(
      nothing,
      (process) => process.create('orders'),
      async (disk, _, at) => {
        const next = await DataStoreProcess.start(disk);
        const { store } = await next.names.named('orders', contextOf());
        expect([at, store.name]).toEqual([at, 'orders']);
        await expectEachNameLeadsToOne(disk, 'orders', 'another');
      },
    );
    expect(writes).toBe(2);
  });

  it('does not keep the name from a data store that is renamed', async () => {
    await atEachWrite(
      nothing,
      (process) => process.create('orders'),
      async (disk) => {
        const next = await DataStoreProcess.start(disk);
        const other = (await next.create('other')).store.id;
        disk.clock.time += ABANDONED_MS;
        const taken = await next.rename(other, 'orders').catch((error: unknown) => error);
        // Either the creation was complete, and its data store has the name, or the name is free.
        if (taken instanceof DomainError) {
          expect(taken.code).toBe('data_store.name_taken');
          const holder = String(taken.details?.['id']);
          expect(await next.names.stateOf(holder, 'o_1')).toMatchObject({ status: 'exists', name: 'orders' });
        } else expect(taken).toMatchObject({ store: { id: other, name: 'orders' } });
        await expectEachNameLeadsToOne(disk, 'orders', 'other');
      },
    );
  });

  it('of which nothing was created keeps the name from a rename only while it may be alive', async () => {
    const disk = new DataStoreDisk();
    const dying = await DataStoreProcess.start(disk, { at: 1, isWritten: false });
    await expect(dying.create('orders')).rejects.toThrow('the process has died');
    const next = await DataStoreProcess.start(disk);
    const { id } = (await next.create('other')).store;
    await expect(next.rename(id, 'orders')).rejects.toMatchObject({ code: 'data_store.busy' });
    disk.clock.time += ABANDONED_MS;
    expect((await next.rename(id, 'orders')).store).toMatchObject({ id, name: 'orders' });
  });
});

describe('a process that dies while it renames a data store', () => {
  it('leaves it under one of its names, a repeat gives the new one, and the other is free in the end', async () => {
    const writes = await atEachWrite(
      orders,
      (process, id) => process.rename(id, 'invoices'),
      async (disk, id, at) => {
        const next = await DataStoreProcess.start(disk);
        const left = await next.names.stateOf(id, 'o_1');
        expect([at, left]).toEqual([
          at,
          expect.objectContaining({ name: expect.stringMatching(/^(orders|invoices)$/) }),
        ]);
        expect((await next.rename(id, 'invoices')).store).toMatchObject({ id, name: 'invoices' });
        disk.clock.time += ABANDONED_MS;
        await expectEachNameLeadsToOne(disk, 'orders', 'invoices');
        expect((await next.names.named('invoices', contextOf())).store.id).toBe(id);
      },
    );
    expect(writes).toBe(3);
  });

  it('and is not repeated, gives up the reserved name once it counts as abandoned', async () => {
    await atEachWrite(
      orders,
      (process, id) => process.rename(id, 'invoices'),
      async (disk, id) => {
        disk.clock.time += ABANDONED_MS;
        await expectEachNameLeadsToOne(disk, 'orders', 'invoices');
        const next = await DataStoreProcess.start(disk);
        expect((await next.names.stateOf(id, 'o_1')).status).toBe('exists');
      },
    );
  });
});

describe('a process that dies while it deletes a data store', () => {
  it('leaves it whole or gone, and its name is free once it is gone', async () => {
    const writes = await atEachWrite(
      orders,
      (process, id) => process.delete(id),
      async (disk, id) => {
        const next = await DataStoreProcess.start(disk);
        const { status } = await next.names.stateOf(id, 'o_1');
        const { store } = await next.names.named('orders', contextOf());
        expect(store.id === id).toBe(status === 'exists');
        if (status === 'exists') await next.delete(id);
        await expect(next.delete(id)).rejects.toMatchObject({ code: 'data_store.not_found' });
        await expectEachNameLeadsToOne(disk, 'orders');
        expect((await disk.view()).ownerOf(id)).toBeUndefined();
      },
    );
    expect(writes).toBe(2);
  });
});
