import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { makeUpcasters } from '#libs/composition/contexts.js';
import { dataStore, type DataStoreState } from './domain/data-store.js';
import { dataStoreName, type DataStoreNameState } from './domain/data-store-name.js';
import { type DataStoreEvent, type DataStoreNameEvent } from './published.js';

const upcasters = makeUpcasters();

/** Reads a golden event (test/fixtures/events), upcast to the current version. */
const golden = async <E extends DataStoreEvent | DataStoreNameEvent>(type: E['type']): Promise<E> => {
  const file = new URL(`../../test/fixtures/events/${type}.v1.json`, import.meta.url);
  const { data, schemaVersion } = JSON.parse(await readFile(file, 'utf8')) as { data: object; schemaVersion: number };
  expect(schemaVersion).toBe(1);
  const lifted = upcasters.upcast(recorded('x-1', { type, data }, { metadata: { schemaVersion } }));
  return { type: lifted.type, data: lifted.data } as E;
};

const store = async (...types: DataStoreEvent['type'][]): Promise<DataStoreState> => {
  let state = dataStore.initialState();
  for (const type of types) state = dataStore.evolve(state, await golden<DataStoreEvent>(type));
  return state;
};

const name = async (...types: DataStoreNameEvent['type'][]): Promise<DataStoreNameState> => {
  let state = dataStoreName.initialState();
  for (const type of types) state = dataStoreName.evolve(state, await golden<DataStoreNameEvent>(type));
  return state;
};

const id = 'ds_0k2f9x8a1b3c5d7e9f';
const createdAt = 1_763_712_000_000;

/** The type is exhaustive, so a new event does not compile without its case. */
const CASES: Record<(DataStoreEvent | DataStoreNameEvent)['type'], () => Promise<void>> = {
  DataStoreCreated: async () =>
    expect(await store('DataStoreCreated')).toEqual({
      status: 'exists',
      id,
      userId: 'u_0k2f9x8a1b3c5d7e9f',
      name: 'Orders',
      createdAt,
      updatedAt: createdAt,
    }),
  DataStoreRenamed: async () =>
    expect(await store('DataStoreCreated', 'DataStoreRenamed')).toMatchObject({
      name: 'Orders 2',
      updatedAt: createdAt + 1_000,
    }),
  DataStoreDeleted: async () =>
    expect(await store('DataStoreCreated', 'DataStoreDeleted')).toEqual({ status: 'deleted', name: 'Orders' }),
  DataStoreNameReserved: async () =>
    expect(await name('DataStoreNameReserved')).toEqual({ storeId: id, reservedAt: createdAt }),
  DataStoreNameReleased: async () =>
    expect(await name('DataStoreNameReserved', 'DataStoreNameReleased')).toBeUndefined(),
};

describe('every version of an event of data stores', () => {
  it.each(Object.entries(CASES))('%s folds', async (_, check) => check());

  it('is written by the current code in a version with a fixture', () => {
    for (const type of Object.keys(CASES)) expect(upcasters.currentVersion(type)).toBe(1);
  });
});
