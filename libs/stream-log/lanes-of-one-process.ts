import {
  type CollectionSchema,
  type Doc,
  type ReadModelStore,
  type ReadModelWrite,
} from '#libs/kernel/read-model-store.js';
import { type LanesBatch, type LaneWrites } from './lane-writes.js';

/** Writes of a batch of lanes, in their order. */
export const writesOf = ({ parts, trims }: LanesBatch): readonly ReadModelWrite[] => [
  ...parts.flatMap(({ writes }) => writes),
  ...trims,
  ...parts.flatMap(({ id, progress }): ReadModelWrite[] => {
    if (progress === 'unchanged') return [];
    return [progress === 'removed' ? { op: 'delete', id } : { op: 'put', doc: progress }];
  }),
];

/** Lanes of a store that one process writes, for which nobody else can claim them. A batch is one of the store. */
export const lanesOfOneProcess = (store: Pick<ReadModelStore, 'apply' | 'getMany'>): LaneWrites => ({
  claimLanes: async <D extends Doc>(schema: CollectionSchema, generation: number, ids: readonly string[]) => {
    const stored = await store.getMany<D>(schema, ids, generation);
    return ids.map((id, i) => ({ id, claim: 0, progress: stored[i] }));
  },
  applyLanes: (batch) => {
    const { schema, generation } = batch;
    return store.apply({ schema, generation, expected: null, next: null, writes: writesOf(batch) });
  },
});
