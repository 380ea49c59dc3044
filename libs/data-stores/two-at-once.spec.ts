import { beforeEach, describe, expect, it } from '@jest/globals';
import { DomainError } from '#libs/kernel/domain-error.js';
import { contextOf, DataStoreDisk, DataStoreProcess } from './testing/names-world.js';

let disk: DataStoreDisk;
let one: DataStoreProcess;
let two: DataStoreProcess;
beforeEach(async () => {
  disk = new DataStoreDisk();
  one = await DataStoreProcess.start(disk);
  two = await DataStoreProcess.start(disk);
});

const settled = async (...acts: readonly Promise<unknown>[]): Promise<{ done: unknown[]; refused: string[] }> => {
  const done: unknown[] = [];
  const refused: string[] = [];
  for (const result of await Promise.allSettled(acts)) {
    if (result.status === 'fulfilled') done.push(result.value);
    else if (result.reason instanceof DomainError) refused.push(result.reason.code);
    else throw result.reason;
  }
  return { done, refused };
};
const nameOf = async (id: string): Promise<string | undefined> => {
  const state = await one.names.stateOf(id, 'o_1');
  return state.status === 'exists' ? state.name : undefined;
};

describe('two processes', () => {
  it('that ask for one unused name get one data store', async () => {
    const asked = [one, two, one, two].map(({ names }) => names.named('orders', contextOf()));
    const stores = (await Promise.all(asked)).map(({ store }) => store.id);
    expect(new Set(stores).size).toBe(1);
  });

  it('that create under one name make one data store, and the other is told of it', async () => {
    const { refused } = await settled(one.create('orders'), two.create('orders'));
    expect(refused.length).toBeLessThanOrEqual(1);
    const { store } = await one.names.named('orders', contextOf());
    await expect(two.create('orders')).rejects.toMatchObject({
      code: 'data_store.name_taken',
      message: `data store ${store.id} has the name "orders": use it, or choose another name`,
    });
  });

  it('that rename two data stores to one name rename one of them', async () => {
    const a = (await one.create('a')).store.id;
    const b = (await two.create('b')).store.id;
    const { done, refused } = await settled(one.rename(a, 'orders'), two.rename(b, 'orders'));
    expect(done).toHaveLength(1);
    expect(refused).toEqual([expect.stringMatching(/^data_store\.(busy|name_taken)$/)]);
    const names = [await nameOf(a), await nameOf(b)].sort();
    expect(names).toContain('orders');
    expect(names.filter((name) => name === 'orders')).toHaveLength(1);
    // The released name is free at once, and the other name still leads to its data store.
    for (const name of ['a', 'b', 'orders']) expect((await one.names.named(name, contextOf())).store.name).toBe(name);
  });

  it('that give one data store two names leave it one of them, and the other to others in the end', async () => {
    const { id } = (await one.create('a')).store;
    const { refused } = await settled(one.rename(id, 'b'), two.rename(id, 'c'));
    const name = await nameOf(id);
    expect(['b', 'c']).toContain(name);
    expect(refused.length).toBeLessThanOrEqual(1);
    disk.clock.time += 60_000;
    for (const each of ['a', 'b', 'c'])
      expect((await one.names.named(each, contextOf())).store.id === id).toBe(each === name);
  });

  it('of which one deletes what the other renames leave no name that leads to the deleted one', async () => {
    const { id } = (await one.create('a')).store;
    await settled(one.delete(id), two.rename(id, 'b'));
    await settled(one.delete(id));
    expect(await nameOf(id)).toBeUndefined();
    for (const name of ['a', 'b']) {
      const { store, isNew } = await one.names.named(name, contextOf());
      expect([store.name, isNew, store.id === id]).toEqual([name, true, false]);
    }
  });

  it('that delete one data store delete it once', async () => {
    const { id } = (await one.create('a')).store;
    const { done, refused } = await settled(one.delete(id), two.delete(id));
    expect([done.length, refused]).toEqual([1, ['data_store.not_found']]);
  });
});

describe('a name', () => {
  it('leads nowhere for another workspace, and its data store cannot be renamed or deleted there', async () => {
    const { id } = (await one.create('orders')).store;
    expect((await one.names.named('orders', contextOf('o_2'))).store.id).not.toBe(id);
    expect(await one.names.stateOf(id, 'o_2')).toEqual({ status: 'none' });
    await expect(one.catalog.resolve(id, contextOf('o_2'))).rejects.toMatchObject({ code: 'data_store.not_found' });
  });

  it('that the data store has already is kept, and changes nothing', async () => {
    const { id } = (await one.create('orders')).store;
    const before = one.writes;
    await one.rename(id, ' orders ');
    expect(one.writes).toBe(before);
  });
});

describe('a deleted data store', () => {
  it('is not found by its id, while a prop that names it makes a new one', async () => {
    const { id } = (await one.create('orders')).store;
    await one.delete(id);
    await expect(one.catalog.resolve(id, contextOf())).rejects.toMatchObject({ code: 'data_store.not_found' });
    await expect(one.rename(id, 'again')).rejects.toMatchObject({ code: 'data_store.not_found' });
    expect(await one.catalog.resolve('orders', contextOf())).not.toBe(id);
  });
});
