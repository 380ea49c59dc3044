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
 * One generation of a read model over the stream log, and how far it has come in each lane. The offset that a lane is
 * applied to is a document of the collection, written with the records' own documents as one unit. So a crash between
 * apply and acknowledgement is harmless: what the log hands over again is known to be applied, and skipped. (Without
 * it, events that a later record removed would show again until that record is folded again.)
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

  /** The same as `appliedTo`, for who only reads the read model; of the active generation unless told otherwise. */
  static async storedOffset(
    readModels: ReadModelStore,
    schema: CollectionSchema,
    lane: string,
    generation?: number,
  ): Promise<number> {
    return (await readModels.get<LaneDoc>(schema, laneDocId(lane), generation))?.offset ?? -1;
  }

  /** -1 when nothing of the lane was applied. */
  async appliedTo(lane: string): Promise<number> {
    const known = this.applied.get(lane);
    if (known !== undefined) return known;
    const offset = await StreamFold.storedOffset(this.readModels, this.projection.schema, lane, this.generation);
    this.applied.set(lane, offset);
    return offset;
  }

  /** The same, if it is known without asking the store. */
  knownAppliedTo(lane: string): number | undefined {
    return this.applied.get(lane);
  }

  /** Writes what the records come to, in one batch; those applied before are skipped. All of it or, rejected, nothing. */
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

  /** Removes all that comes from records with this key. `lanes` are gone for good and forgotten. */
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

  /** The checkpoint counts batches: it says nothing of lanes, and tells when somebody else writes. */
  private async write(writes: readonly ReadModelWrite[]): Promise<void> {
    const { projection, readModels, generation, checkpoint: expected } = this;
    const next = String(Number(expected ?? '0') + 1).padStart(16, '0');
    await readModels.apply({ schema: projection.schema, generation, expected, next, writes });
    this.checkpoint = next;
  }
}
