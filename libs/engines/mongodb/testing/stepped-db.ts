import { type Collection, type Db, type Document } from 'mongodb';

/** Wraps a call, named `collection.operation`. `documents` stands for the documents of any read model. */
export type Around = (step: string, act: () => Promise<unknown>) => Promise<unknown>;

const WATCHED = new Set(['insertOne', 'updateOne', 'bulkWrite', 'findOne', 'deleteMany']);

/** A database whose calls go through `around`, which may wait, fail, or make the call and lose its answer. */
export const steppedDb = (real: Db, around: Around): Db =>
  new Proxy(real, {
    get: (target, name) =>
      name === 'collection'
        ? (...args: Parameters<Db['collection']>) => steppedCollection(target.collection(...args), around)
        : (Reflect.get(target, name) as unknown),
  });

const steppedCollection = (real: Collection<Document>, around: Around): Collection<Document> =>
  new Proxy(real, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function') return value;
      const call = (...args: unknown[]): unknown => value.apply(target, args) as unknown;
      if (typeof name !== 'string' || !WATCHED.has(name)) return call;
      const step = `${target.collectionName.startsWith('read.') ? 'documents' : target.collectionName}.${name}`;
      return (...args: unknown[]) => around(step, () => call(...args) as Promise<unknown>);
    },
  });
