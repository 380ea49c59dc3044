import {
  type CollectionSchema,
  type Doc,
  type DocumentWrite,
  type ReadModelStore,
  type ReadModelWrite,
  type Trim,
} from '#libs/kernel/read-model-store.js';

/** A lane of a read model that several processes write, as its newest claim found it. */
export interface ClaimedLane<D extends Doc> {
  /** Id of the document that holds the lane's progress. */
  readonly id: string;
  /** Greater than that of every earlier claim of the lane. */
  readonly claim: number;
  readonly progress: D | undefined;
}

/** What one lane adds to a batch. */
export interface LanePart {
  readonly id: string;
  readonly claim: number;
  /** The lane's next progress, a document with the lane's id. */
  readonly progress: Doc | 'unchanged' | 'removed';
  /** Applied in order. No other lane writes these documents. */
  readonly writes: readonly DocumentWrite[];
}

export interface LanesBatch {
  readonly schema: CollectionSchema;
  readonly generation: number;
  readonly parts: readonly LanePart[];
  /** Applied last. They may delete documents of any lane. */
  readonly trims: readonly Trim[];
}

/** Thrown when another process has claimed one of the lanes, or the generation was replaced. Claim again and repeat. */
export class LaneLost extends Error {
  constructor(
    readonly collection: string,
    readonly lanes: readonly string[],
  ) {
    super(`another process claimed ${lanes.join(', ')} of ${collection}, or its generation was replaced`);
    this.name = 'LaneLost';
  }
}

/** Writes of read models over the stream log, whose lanes the processes of an installation share (docs/adr/0048). */
export interface LaneWrites {
  /**
   * Claims lanes of a generation, and returns their current progress. Every earlier claim of them ends, and its batches
   * no longer change their progress. Rejects with LaneLost when the generation was replaced.
   */
  claimLanes<D extends Doc>(
    schema: CollectionSchema,
    generation: number,
    ids: readonly string[],
  ): Promise<readonly ClaimedLane<D>[]>;

  /**
   * Applies the parts of claimed lanes. After a crash a lane's progress is visible only with all of its writes. Some
   * writes may be visible without the progress, and the lane's next owner repeats them. Rejects with LaneLost when a
   * lane has a newer claim. The progress of the other lanes may then be written.
   */
  applyLanes(batch: LanesBatch): Promise<void>;
}

/** Returns the writes of a batch of lanes, in their order. */
export const writesOf = ({ parts, trims }: LanesBatch): readonly ReadModelWrite[] => [
  ...parts.flatMap(({ writes }) => writes),
  ...trims,
  ...parts.flatMap(({ id, progress }): ReadModelWrite[] => {
    if (progress === 'unchanged') return [];
    return [progress === 'removed' ? { op: 'delete', id } : { op: 'put', doc: progress }];
  }),
];

/** Lanes of a store that only one process writes, so none are lost. A batch of lanes is one batch of the store. */
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
