import {
  type DataStoreAccess,
  type DataStoreCall,
  PAGE_KEYS,
  PAGE_RECORDS,
} from '#libs/component-model/data-store-calls.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type DataStoreRecords } from './data-store-records.js';
import { type DataStoresView } from './data-stores-view.js';
import { dataStoreNotFound } from './find-data-store.js';

export interface DataStoreAccessOptions {
  readonly records: DataStoreRecords;
  readonly view: Pick<DataStoresView, 'ownerOf'>;
  readonly clock: Clock;
  /** Called with each error that is not the author's fault. */
  readonly onFailure: (error: unknown) => void;
}

/** Serves the calls of user code. A data store that is deleted, or of another workspace, is not found. */
export const dataStoreAccess = ({ records, view, clock, onFailure }: DataStoreAccessOptions): DataStoreAccess => ({
  async call(storeId, workspaceId, call) {
    if (view.ownerOf(storeId) !== workspaceId) throw dataStoreNotFound(storeId);
    try {
      return await answerTo(records, storeId, workspaceId, call, clock.now());
    } catch (error) {
      if (!(error instanceof DomainError)) onFailure(error);
      throw error;
    }
  },
});

const answerTo = async (
  records: DataStoreRecords,
  storeId: string,
  workspaceId: string,
  { op, key, number, value }: DataStoreCall,
  now: number,
): Promise<string | undefined> => {
  const expiresAt = expiryOf(number, now);
  switch (op) {
    case 'get':
      return (await records.get(storeId, key, now))?.value;
    case 'has':
      return String((await records.get(storeId, key, now)) !== undefined);
    case 'set':
      return void (await records.set({ storeId, workspaceId, key, value, expiresAt }, now));
    case 'setTtl':
      return String(await records.setTtl(storeId, key, expiresAt, now));
    case 'delete':
      return String(await records.delete(storeId, key, now));
    case 'clear':
      return void (await records.clear(storeId));
    case 'size':
      return String(await records.size(storeId, now));
    case 'incr':
      return String(await records.incr({ storeId, workspaceId, key }, number ?? 1, now));
    case 'keys': {
      const page = await records.page(storeId, { after: key, limit: PAGE_KEYS, keysOnly: true }, now);
      return JSON.stringify([page.records.map((record) => record.key), page.more]);
    }
    case 'entries': {
      const page = await records.page(storeId, { after: key, limit: PAGE_RECORDS, keysOnly: false }, now);
      // The values are JSON already.
      const items = page.records.map((record) => `[${JSON.stringify(record.key)},${record.value}]`);
      return `[[${items.join(',')}],${page.more}]`;
    }
  }
};

/** Epoch milliseconds of the end of a record that lives this many seconds from now on. */
export const expiryOf = (ttlSeconds: number | null, now: number): number | null =>
  ttlSeconds === null ? null : now + Math.ceil(ttlSeconds * 1_000);
