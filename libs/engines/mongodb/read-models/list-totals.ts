import { type AnyBulkWriteOperation, type Collection } from 'mongodb';
import { type CollectionSchema, type ReadModelWrite, type PageWhere } from '#libs/kernel/read-model-store.js';
import { fieldName, type StoredDoc } from './read-model-documents.js';
import { isDuplicateKey } from '../server-errors.js';

/**
 * Totals of the lists that a schema counts, each a document beside the counted ones (docs/adr/0014). A batch writes its
 * number (`at`) to the totals that it changes, then its documents, then each total with the number again (`of`). When
 * the two numbers of a total differ, a batch is changing it or has died, and the next reader counts the list. A batch
 * that finds such a total removes `of`, because the total before the batch is unknown.
 */

type Operation = AnyBulkWriteOperation<StoredDoc>;
type Total = Pick<StoredDoc, '_id' | 'at' | 'total' | 'of'>;

/** Number of the next batch, and the text that `countedAt` made for it. */
interface Batches {
  readonly batch: number;
  readonly counted?: string | undefined;
}

/**
 * Document with the number of a batch up to which documents were changed without totals, so older totals are invalid.
 */
const GAP = '#gap';
const IDS_PER_QUERY = 1_000;

/**
 * Text that marks that all batches before this one have kept the totals. Undefined for a schema without counted lists.
 */
export const countedAt = ({ counted }: CollectionSchema, batch: number): string | undefined =>
  counted && `${batch} ${JSON.stringify(counted)}`;

export const isCounted = (schema: CollectionSchema, { counted, batch }: Batches): boolean =>
  counted !== undefined && counted === countedAt(schema, batch);

/** Id of the total of a list; undefined for a list that is not counted. Ids of documents do not begin with `#`. */
const totalId = ({ counted = [] }: CollectionSchema, where: PageWhere): string | undefined => {
  const fields = Object.keys(where);
  if (Object.values(where).some((value) => typeof value !== 'string')) return undefined;
  const list = counted.find((each) => each.length === fields.length && each.every((field) => fields.includes(field)));
  return list && idOf(list, where);
};

const idOf = (list: readonly string[], values: Readonly<Record<string, unknown>>): string =>
  `#total ${JSON.stringify(list.map((field) => [field, values[field]]))}`;

interface Operations {
  /** Operations before all writes of the batch. */
  readonly first: readonly Operation[];
  /** Operations after all writes of the batch. */
  readonly last: readonly Operation[];
  readonly totals: readonly string[];
}

const NOTHING: Operations = { first: [], last: [], totals: [] };

/**
 * Makes the operations of a batch on the totals. Needs one request, and another one when documents are inserted,
 * deleted or moved.
 */
export const totalsAround = async (
  collection: Collection<StoredDoc>,
  schema: CollectionSchema,
  { batch, isWhole }: { readonly batch: number; readonly isWhole: boolean },
  writes: readonly ReadModelWrite[],
): Promise<Operations> => {
  if (!schema.counted) return NOTHING;
  const mark = (id: string, isKnown: boolean): Operation => {
    const update = { $set: { at: batch }, ...(isKnown ? {} : { $unset: { of: '' as const } }) };
    return { updateOne: { filter: { _id: id, at: { $lte: batch } }, update, upsert: true } };
  };
  const changes = await changesOf(collection, schema, writes);
  const totals = [...changes.keys()];
  if (!isWhole) return { first: [GAP, ...totals].map((id) => mark(id, false)), last: [], totals };
  if (totals.length === 0) return NOTHING;
  const { gap, found } = await stored(collection, totals);
  const first = totals.map((id) => mark(id, known(found.get(id), gap) !== undefined));
  const last = totals.flatMap((id): Operation[] => {
    const total = known(found.get(id), gap);
    if (total === undefined) return [];
    const update = { $set: { total: total + (changes.get(id) ?? 0), of: batch } };
    return [{ updateOne: { filter: { _id: id, at: batch }, update } }];
  });
  return { first, last, totals };
};

/**
 * Change of each total by the writes. Only totals whose lists gain or lose documents are included, even when the sum is
 * 0.
 */
const changesOf = async (
  collection: Collection<StoredDoc>,
  schema: CollectionSchema,
  writes: readonly ReadModelWrite[],
): Promise<ReadonlyMap<string, number>> => {
  const { counted = [], name } = schema;
  const after = new Map<string, readonly string[]>();
  for (const write of writes) {
    if (write.op === 'put') after.set(write.doc.id, listsOf(counted, new Map(Object.entries(write.doc))));
    else if (write.op === 'delete') after.set(write.id, []);
    else throw new Error(`lists of ${name} are counted, so its documents are deleted by their ids, not by ${write.op}`);
  }
  const before = await listsBefore(collection, counted, [...after.keys()]);
  const changes = new Map<string, number>();
  const add = (id: string, change: number): unknown => changes.set(id, (changes.get(id) ?? 0) + change);
  for (const [id, lists] of after) {
    const former = before.get(id) ?? [];
    for (const list of lists) if (!former.includes(list)) add(list, 1);
    for (const list of former) if (!lists.includes(list)) add(list, -1);
  }
  return changes;
};

const listsOf = (counted: readonly (readonly string[])[], fields: ReadonlyMap<string, unknown>): readonly string[] =>
  counted.map((list) => idOf(list, Object.fromEntries(fields)));

const listsBefore = async (
  collection: Collection<StoredDoc>,
  counted: readonly (readonly string[])[],
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const fields = [...new Set(counted.flat())];
  const projection = Object.fromEntries(['sort', ...fields.map(fieldName)].map((field) => [field, 1]));
  const lists = new Map<string, readonly string[]>();
  for (let i = 0; i < ids.length; i += IDS_PER_QUERY) {
    const some = ids.slice(i, i + IDS_PER_QUERY);
    const found = await collection.find({ _id: { $in: some } }, { projection, batchSize: IDS_PER_QUERY + 1 }).toArray();
    for (const { _id, sort, ...document } of found) {
      if (sort === undefined) continue;
      lists.set(_id, listsOf(counted, new Map(fields.map((field) => [field, document[fieldName(field)]]))));
    }
  }
  return lists;
};

const stored = async (
  collection: Collection<StoredDoc>,
  totals: readonly string[],
): Promise<{ readonly gap: number; readonly found: ReadonlyMap<string, Total> }> => {
  const found = new Map<string, Total>();
  const ids = [GAP, ...totals];
  for (let i = 0; i < ids.length; i += IDS_PER_QUERY) {
    const some = collection.find({ _id: { $in: ids.slice(i, i + IDS_PER_QUERY) } }, { batchSize: IDS_PER_QUERY + 1 });
    for (const each of await some.toArray()) found.set(each._id, each);
  }
  return { gap: found.get(GAP)?.at ?? -1, found };
};

/** Undefined when the list must be counted. Without a gap, a list without a total never had a document. */
const known = (stored: Total | undefined, gap: number): number | undefined => {
  if (!stored) return gap < 0 ? 0 : undefined;
  return stored.of === stored.at && stored.at >= gap ? stored.total : undefined;
};

/** Returns the total of a list. `count` counts its documents, and is called when the total is unknown. */
export const totalOf = async (
  collection: Collection<StoredDoc>,
  schema: CollectionSchema,
  where: PageWhere,
  progress: () => Promise<Batches | undefined>,
  count: () => Promise<number>,
): Promise<number> => {
  const id = totalId(schema, where);
  if (id === undefined) return count();
  // Read before the total, because a batch from this number on may still be writing.
  const now = await progress();
  if (!now || !isCounted(schema, now)) return count();
  const { gap, found } = await stored(collection, [id]);
  const kept = found.get(id);
  const total = known(kept, gap);
  if (total !== undefined) return total;
  if (kept && kept.at >= now.batch) {
    const before = kept.of !== undefined && kept.of >= gap ? kept.total : undefined;
    return before ?? count();
  }
  const counted = await count();
  await keep(collection, kept, { _id: id, at: Math.max(kept?.at ?? 0, gap), total: counted });
  return counted;
};

/** Stores the counted total, unless a batch has begun to change the list. */
const keep = async (
  collection: Collection<StoredDoc>,
  seen: Total | undefined,
  { _id, at, total }: { readonly _id: string; readonly at: number; readonly total: number },
): Promise<void> => {
  if (seen) {
    const isSame = { _id, at: seen.at, of: seen.of ?? { $exists: false } };
    await collection.updateOne(isSame, { $set: { at, of: at, total } });
    return;
  }
  try {
    await collection.insertOne({ _id, at, of: at, total });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
};

/** Makes the next reader of these lists count. */
export const forgetTotals = async (collection: Collection<StoredDoc>, totals: readonly string[]): Promise<void> => {
  if (totals.length > 0) await collection.updateMany({ _id: { $in: [...totals] } }, { $unset: { of: '' } });
};
