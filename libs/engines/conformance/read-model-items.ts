import {
  type CollectionSchema,
  type Doc,
  type ReadModelStore,
  type ReadModelWrite,
} from '#libs/kernel/read-model-store.js';

/** Documents of the ReadModelStore's suite. */
export interface Item extends Doc {
  readonly owner: string;
  readonly kind: string;
  readonly at: string;
  readonly extra?: unknown;
}

export const schema: CollectionSchema = { name: 'items.list.v1', indexed: ['owner', 'kind'], sort: 'at' };

export const item = (id: string, at: number, owner = 'o1', kind = 'a'): Item => ({
  id,
  owner,
  kind,
  at: String(at).padStart(6, '0'),
});
export const put = (...docs: Item[]): ReadModelWrite[] => docs.map((doc) => ({ op: 'put', doc }));

export const fill = async (store: ReadModelStore, writes: readonly ReadModelWrite[]): Promise<void> => {
  await store.register(schema);
  await store.apply({ schema, generation: 1, expected: null, next: '1', writes });
};

export const ids = (docs: readonly (Doc | undefined)[]): (string | undefined)[] => docs.map((doc) => doc?.id);
export const listed = async (store: ReadModelStore, where = {}): Promise<(string | undefined)[]> =>
  ids((await store.page(schema, { where, limit: 1000 })).docs);
