import {
  type Checkpoint,
  type CollectionSchema,
  type Doc,
  type ReadModelStore,
  type ReadModelWrite,
} from '#libs/kernel/read-model-store.js';
import { foldRecords, GroupSizes, type StreamProjection } from './stream-projection.js';
import { isAnotherLog, type LaneOrigin } from './lane-origin.js';
import { type StoredRecord } from './stream-log.js';

interface Applied {
  readonly offset: number;
  /** Of the record at the offset. */
  readonly origin?: LaneOrigin;
}

interface LaneDoc extends Doc, Applied {
  readonly lane: string;
}

const NOTHING: Applied = { offset: -1 };

const NO_GROUP = '#lane';
const laneDocId = (lane: string): string => `${NO_GROUP}/${lane}`;

/**
 * One generation of a read model over the stream log, with the applied offset of each lane. The offset is a document of
 * the collection, written atomically with the records' documents. So a crash between apply and acknowledgement is
 * harmless, because records that the log hands over again are skipped. (Otherwise events that a later record removed
 * would show again until that record is folded again.)
 */
export class StreamFold {
  private readonly applied = new Map<string, Applied>();
  private readonly sizes: GroupSizes;

  constructor(
    private readonly projection: StreamProjection,
    private readonly readModels: ReadModelStore,
    readonly generation: number,
    private checkpoint: Checkpoint | null,
  ) {
    this.sizes = new GroupSizes(projection);
  }

  /** Same as `appliedTo`, for a caller that only reads the read model. Reads the active generation by default. */
  static async storedOffset(
    readModels: ReadModelStore,
    schema: CollectionSchema,
    lane: string,
    generation?: number,
  ): Promise<number> {
    return (await readModels.get<LaneDoc>(schema, laneDocId(lane), generation))?.offset ?? -1;
  }

  /** Returns the lane's applied offset, -1 for none. */
  async appliedTo(lane: string): Promise<number> {
    return (await this.appliedIn(lane)).offset;
  }

  /** Same as `appliedTo`, if known without asking the store. */
  knownAppliedTo(lane: string): number | undefined {
    return this.applied.get(lane)?.offset;
  }

  /** Folds the records and writes the result atomically. Skips records applied before. */
  async apply(records: readonly StoredRecord[]): Promise<void> {
    const lanes = new Map<string, Applied>();
    const fresh: StoredRecord[] = [];
    for (const record of records) {
      const { lane, offset, origin } = record;
      const known = lanes.get(lane) ?? (await this.appliedIn(lane));
      if (offset <= known.offset && !isAnotherLog(origin, known.origin)) continue;
      lanes.set(lane, { offset, ...(origin && { origin }) });
      fresh.push(record);
    }
    if (fresh.length === 0) return;
    const writes = foldRecords(this.projection, fresh, this.sizes);
    for (const [lane, applied] of lanes) writes.push({ op: 'put', doc: this.laneDoc(lane, applied) });
    await this.write(writes);
    for (const [lane, applied] of lanes) this.applied.set(lane, applied);
  }

  /** Removes the documents of records with this key, and forgets the given lanes, which are deleted. */
  async forget(key: string, lanes: readonly string[]): Promise<void> {
    const writes = this.projection.ofKey(key).map((where): ReadModelWrite => ({ op: 'delete_range', where }));
    for (const lane of lanes) writes.push({ op: 'delete', id: laneDocId(lane) });
    await this.write(writes);
    for (const lane of lanes) this.applied.delete(lane);
  }

  private async appliedIn(lane: string): Promise<Applied> {
    let known = this.applied.get(lane);
    if (!known) {
      const { readModels, projection, generation } = this;
      known = (await readModels.get<LaneDoc>(projection.schema, laneDocId(lane), generation)) ?? NOTHING;
      this.applied.set(lane, known);
    }
    return known;
  }

  private laneDoc(lane: string, applied: Applied): LaneDoc {
    const { indexed, sort, bytes } = this.projection.schema;
    const fields = Object.fromEntries([...indexed, sort].map((field) => [field, NO_GROUP]));
    return { ...fields, ...(bytes === undefined ? {} : { [bytes]: 0 }), id: laneDocId(lane), lane, ...applied };
  }

  /** Writes with a checkpoint that counts batches. It says nothing about lanes, but reveals another writer. */
  private async write(writes: readonly ReadModelWrite[]): Promise<void> {
    const { projection, readModels, generation, checkpoint: expected } = this;
    const next = String(Number(expected ?? '0') + 1).padStart(16, '0');
    await readModels.apply({ schema: projection.schema, generation, expected, next, writes });
    this.checkpoint = next;
  }
}
