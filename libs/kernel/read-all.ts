import {
  UnknownCursor,
  type CollectionSchema,
  type Doc,
  type ReadModelStore,
  type PageWhere,
} from './read-model-store.js';

const PAGE = 500;
const MAX_RESTARTS = 10;

/**
 * Reads every matching document, in list order. Starts over when the last document of a page was deleted in the
 * meantime.
 */
export const readAll = async <D extends Doc>(
  store: ReadModelStore,
  schema: CollectionSchema,
  where: PageWhere,
): Promise<readonly D[]> => {
  for (let restarts = 0; ; restarts++) {
    try {
      return await readPages<D>(store, schema, where);
    } catch (error) {
      if (!(error instanceof UnknownCursor) || restarts >= MAX_RESTARTS) throw error;
    }
  }
};

const readPages = async <D extends Doc>(
  store: ReadModelStore,
  schema: CollectionSchema,
  where: PageWhere,
): Promise<readonly D[]> => {
  const all: D[] = [];
  for (;;) {
    const last = all.at(-1);
    const query = { where, limit: PAGE, withTotal: false, ...(last ? { after: last.id } : {}) };
    const { docs } = await store.page<D>(schema, query);
    all.push(...docs);
    if (docs.length < PAGE) return all;
  }
};
