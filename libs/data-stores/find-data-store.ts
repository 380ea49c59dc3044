import { DomainError } from '#libs/kernel/domain-error.js';
import { otherKindHint } from '#libs/kernel/id-kinds.js';
import { isIdOf, shownId } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type DataStoreDoc, dataStoresProjection } from './read-models/data-stores.projection.js';

export const dataStoreNotFound = (storeId: string): DomainError =>
  new DomainError(
    'data_store.not_found',
    `there is no data store ${shownId(storeId)} in your workspaces${otherKindHint(storeId, 'ds')}`,
    { id: shownId(storeId) },
  );

/** Finds a data store of these workspaces. Throws data_store.not_found, also for one of another workspace. */
export const findDataStore = async (
  readModels: ReadModelStore,
  workspaceIds: readonly string[],
  storeId: string,
): Promise<DataStoreDoc> => {
  const isId = isIdOf('ds', storeId);
  const doc = isId ? await readModels.get<DataStoreDoc>(dataStoresProjection.schema, storeId) : undefined;
  if (doc && workspaceIds.includes(doc.workspaceId)) return doc;
  throw dataStoreNotFound(storeId);
};
