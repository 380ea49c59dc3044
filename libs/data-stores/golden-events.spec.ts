import { describe, expect, it } from '@jest/globals';
import { GoldenEvents, type GoldenName } from '#libs/kernel/testing/golden-events.js';
import { dataStoresContext } from './context.js';
import { dataStore } from './domain/data-store.js';
import { dataStoreName } from './domain/data-store-name.js';
import { type DataStoreEvent, type DataStoreNameEvent } from './published.js';

const golden = new GoldenEvents(dataStoresContext);

const store = (...names: GoldenName<DataStoreEvent>[]) => golden.after(dataStore, ...names);
const name = (...names: GoldenName<DataStoreNameEvent>[]) => golden.after(dataStoreName, ...names);

const id = 'ds_0k2f9x8a1b3c5d7e9f';
const createdAt = 1_763_712_000_000;

/** The type is exhaustive, so a new event does not compile without its case. */
const CASES: Record<(DataStoreEvent | DataStoreNameEvent)['type'], () => void> = {
  DataStoreCreated: () =>
    expect(store('DataStoreCreated')).toEqual({
      status: 'exists',
      id,
      userId: 'u_0k2f9x8a1b3c5d7e9f',
      name: 'Orders',
      createdAt,
      updatedAt: createdAt,
    }),
  DataStoreRenamed: () =>
    expect(store('DataStoreCreated', 'DataStoreRenamed')).toMatchObject({
      name: 'Orders 2',
      updatedAt: createdAt + 1_000,
    }),
  DataStoreDeleted: () =>
    expect(store('DataStoreCreated', 'DataStoreDeleted')).toEqual({ status: 'deleted', name: 'Orders' }),
  DataStoreNameReserved: () => expect(name('DataStoreNameReserved')).toEqual({ storeId: id, reservedAt: createdAt }),
  DataStoreNameReleased: () => expect(name('DataStoreNameReserved', 'DataStoreNameReleased')).toBeUndefined(),
};

describe('every version of an event of data stores', () => {
  it.each(Object.entries(CASES))('%s folds', (_, check) => check());
});
