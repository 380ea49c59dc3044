import { type DataStoreAccess } from '#libs/component-model/data-store-calls.js';
import { dataStoreAccess } from '#libs/data-stores/data-store-access.js';
import { InMemoryRecords } from '#libs/data-stores/in-memory-records.js';

/** Data stores in memory, by id, with the rules of those of a server. */
export const givenStores = async (
  given: readonly (readonly [id: string, records: Readonly<Record<string, unknown>>])[],
  workspaceId: string,
  now: () => number,
): Promise<DataStoreAccess> => {
  const records = new InMemoryRecords();
  for (const [storeId, values] of given)
    for (const [key, value] of Object.entries(values))
      await records.set({ storeId, workspaceId, key, value: JSON.stringify(value) ?? 'null', expiresAt: null }, now());
  const failed = (error: unknown): never => {
    throw error;
  };
  return dataStoreAccess({ records, view: { ownerOf: () => workspaceId }, clock: { now }, onFailure: failed });
};
