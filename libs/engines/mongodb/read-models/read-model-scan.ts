import { type Collection } from 'mongodb';
import { type CollectionSchema, type Doc, type Scanned, type ScanQuery } from '#libs/kernel/read-model-store.js';
import { scanned } from '#libs/kernel/scanned.js';
import { between, matching, within, type StoredDoc } from './read-model-documents.js';

/** Documents of one slice. They are compared on the thread of the process, about 1 ms for each hundred. */
const MOST_AT_ONCE = 100;

/** Examines one slice of a list. */
export const scanOf = async <D extends Doc>(
  collection: Collection<StoredDoc>,
  schema: CollectionSchema,
  query: ScanQuery,
): Promise<Scanned<D>> => {
  const { where, from, to, after } = query;
  const span = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const examine = Math.min(query.examine, MOST_AT_ONCE);
  const stored = await collection
    .find({ $and: [matching(schema, where), within(span), between(after, undefined)] })
    .sort({ sort: -1, _id: -1 })
    .limit(examine)
    .batchSize(examine + 1)
    .project<{ _id: string; sort: string; doc: string }>({ doc: 1, sort: 1 })
    .toArray();
  const ids = stored.map(({ _id }) => _id);
  const isCompared = schema.beside !== undefined && query.match.contains !== undefined;
  const large = new Set(isCompared ? await withBeside(collection, ids) : []);
  const rows = stored.map(({ _id: id, sort, doc }) => ({ id, sort, doc, hasBeside: large.has(id) }));
  return scanned<D>(rows, { ...query, examine }, async (id) => {
    const found = await collection.findOne({ _id: id }, { projection: { beside: 1 } });
    return found?.beside;
  });
};

/** Those of the documents that have a text beside them. Few have, so the others are not asked for one by one. */
const withBeside = async (collection: Collection<StoredDoc>, ids: readonly string[]): Promise<readonly string[]> => {
  const found = collection
    .find({ _id: { $in: [...ids] }, beside: { $exists: true } })
    .batchSize(ids.length + 1)
    .project<{ _id: string }>({ _id: 1 });
  return (await found.toArray()).map(({ _id }) => _id);
};
