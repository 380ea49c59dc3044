import { type Collection, type CreateIndexesOptions, type Document, type IndexDescription } from 'mongodb';

export type Index = CreateIndexesOptions & { readonly name: string; readonly key: IndexDescription['key'] };

/** Idempotent, even for several processes at once. One command per index, because FerretDB panics at two that exist. */
export const ensureIndexes = async <D extends Document>(
  collection: Collection<D>,
  indexes: readonly Index[],
): Promise<void> => {
  for (const { key, ...options } of indexes) await collection.createIndex(key, options);
};
