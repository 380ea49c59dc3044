import {
  type Checkpoint,
  type CollectionSchema,
  type Doc,
  type ReadModelStore,
  type ReadModelWrite,
} from '#libs/kernel/read-model-store.js';
import { foldRecords, GroupSizes, type StreamProjection } from './stream-projection.js';
import { type StoredRecord } from './stream-log.js';

interface LaneDoc extends Doc {
  readonly lane: string;
  readonly offset: number;
}

const NO_GROUP = '#lane';
const laneDocId = (lane: string): string => `${NO_GROUP}/${lane}`;

/**
 * One generation of a read model over the stream log, with the applied offset of each lane. The offset is a document of
 * the collection, written atomically with the records' documents. So a crash between apply and acknowledgement is
 * harmless, because records that the log hands over again are skipped. (Otherwise events that a later record removed
 * would show again until that record is folded again.)
 */
export class StreamFold {
  private readonly applied = new Map<string, number>();
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
    const known = this.applied.get(lane);
    if (known !== undefined) return known;
    const offset = await StreamFold.storedOffset(this.readModels, this.projection.schema, lane, this.generation);
    this.applied.set(lane, offset);
    return offset;
  }

  /** Same as `appliedTo`, if known without asking the store. */
  knownAppliedTo(lane: string): number | undefined {
    return this.applied.get(lane);
  }

  /** Folds the records and writes the result atomically. Skips records applied before. */
  async apply(records: readonly StoredRecord[]): Promise<void> {
    const lanes = new Map<string, number>();
    const fresh: StoredRecord[] = [];
    for (const record of records) {
      if (record.offset <= (lanes.get(record.lane) ?? (await this.appliedTo(record.lane)))) continue;
      lanes.set(record.lane, record.offset);
      fresh.push(record);
    }
    if (fresh.length === 0) return;
    const writes = foldRecords(this.projection, fresh, this.sizes);
    for (const [lane, offset] of lanes) writes.push({ op: 'put', doc: this.laneDoc(lane, offset) });
    await this.write(writes);
    for (const [lane, offset] of lanes) this.applied.set(lane, offset);
  }

  /** Removes the documents of records with this key, and forgets the given lanes, which are deleted. */
  async forget(key: string, lanes: readonly string[]): Promise<void> {
    const writes = this.projection.ofKey(key).map((where): ReadModelWrite => ({ op: 'delete_range', where }));
    for (const lane of lanes) writes.push({ op: 'delete', id: laneDocId(lane) });
    await this.write(writes);
    for (const lane of lanes) this.applied.delete(lane);
  }

  private laneDoc(lane: string, offset: number): LaneDoc {
    const { indexed, sort, bytes } = this.projection.schema;
    const fields = Object.fromEntries([...indexed, sort].map((field) => [field, NO_GROUP]));
    return { ...fields, ...(bytes === undefined ? {} : { [bytes]: 0 }), id: laneDocId(lane), lane, offset };
  }

  /** Writes with a checkpoint that counts batches. It says nothing about lanes, but reveals another writer. */
  private async write(writes: readonly ReadModelWrite[]): Promise<void> {
    const { projection, readModels, generation, checkpoint: expected } = this;
    const next = String(Number(expected ?? '0') + 1).padStart(16, '0');
    await readModels.apply({ schema: projection.schema, generation, expected, next, writes });
    this.checkpoint = next;
  }
}
