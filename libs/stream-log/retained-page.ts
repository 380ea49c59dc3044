import {
  type CollectionSchema,
  type Doc,
  type Page,
  type PageQuery,
  type ReadModelStore,
} from '#libs/kernel/read-model-store.js';

/**
 * Reads a page of a list that keeps its `newest` documents. The projector trims only from time to time. This function
 * hides the documents beyond the limit, so that totals and pages do not depend on the last trim.
 */
export const retainedPage = async <D extends Doc>(
  readModels: ReadModelStore,
  schema: CollectionSchema,
  query: PageQuery,
  newest: number,
): Promise<Page<D>> => {
  const { docs, total } = await readModels.page<D>(schema, { ...query, limit: Math.min(query.limit, newest) });
  if (total <= newest) return { docs, total };
  if (query.after === undefined && query.before === undefined) return { docs, total: newest };
  const kept = await readModels.page<D>(schema, { where: query.where, limit: newest, withTotal: false });
  const ids = new Set(kept.docs.map(({ id }) => id));
  return { docs: docs.filter(({ id }) => ids.has(id)), total: newest };
};
