import { type Collection, type Db, type Document, type FindCursor } from 'mongodb';

/** Wraps a call, named `collection.operation`. `documents` stands for the documents of any read model. */
export type Around = (step: string, act: () => Promise<unknown>) => Promise<unknown>;

const WATCHED = new Set(['insertOne', 'updateOne', 'bulkWrite', 'findOne', 'deleteMany', 'updateMany']);
/** Collections whose reads of several documents are wrapped too. */
const READ_AS_A_WHOLE = new Set(['leases']);

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
      if (name === 'find' && READ_AS_A_WHOLE.has(target.collectionName)) {
        return (...args: unknown[]) => {
          const cursor = call(...args) as FindCursor<Document>;
          const toArray = cursor.toArray.bind(cursor);
          return { toArray: () => around(`${target.collectionName}.find`, toArray) };
        };
      }
      if (typeof name !== 'string' || !WATCHED.has(name)) return call;
      const step = `${target.collectionName.startsWith('read.') ? 'documents' : target.collectionName}.${name}`;
      return (...args: unknown[]) => around(step, () => call(...args) as Promise<unknown>);
    },
  });

/** A process that hangs at the nth occurrence of a step until it is released. `open` opens its store. */
export const hangingAt = <S>(
  open: (around: Around) => S,
  at: string,
  nth = 1,
): { readonly store: S; readonly hangs: Promise<void>; go(): void } => {
  let go = (): void => undefined;
  let reached = (): void => undefined;
  const gate = new Promise<void>((resolve) => (go = resolve));
  const hangs = new Promise<void>((resolve) => (reached = resolve));
  let met = 0;
  const stuck = open(async (step, act) => {
    if (step === at && ++met === nth) {
      reached();
      await gate;
    }
    return act();
  });
  return { store: stuck, hangs, go: () => go() };
};
