import {
  type CollectionSchema,
  type Doc,
  type DocumentWrite,
  type ReadModelStore,
  type ReadModelWrite,
  type Trim,
} from '#libs/kernel/read-model-store.js';
import { type ForgottenKeys } from './forgotten-keys.js';
import { foldRecords, GroupSizes, type StreamProjection } from './stream-projection.js';
import { newestRecords } from './newest-records.js';
import { isAnotherLog, type LaneOrigin } from './lane-origin.js';
import { type LanePart, type LaneWrites } from './lane-writes.js';
import { type StoredRecord, type StreamLog } from './stream-log.js';

interface Applied {
  readonly offset: number;
  /** Origin of the record at the offset. */
  readonly origin?: LaneOrigin;
}

interface LaneDoc extends Doc, Applied {
  readonly lane: string;
}

const NOTHING: Applied = { offset: -1 };

const NO_GROUP = '#lane';
const laneDocId = (lane: string): string => `${NO_GROUP}/${lane}`;

/** A lane that this fold has claimed. */
interface HeldLane {
  readonly claim: number;
  applied: Applied;
  /** Whether each key of its records is forgotten. Valid for this claim only, because `forget` ends claims. */
  readonly keys: Map<string, boolean>;
}

type RecordsByLane = ReadonlyMap<string, readonly StoredRecord[]>;

interface Work {
  readonly lane: string;
  readonly held: HeldLane;
  readonly records: readonly StoredRecord[];
}

const MAX_KEYS = 10_000;
const MAX_GIVEN = 10_000;
const READ = 1_000;

export interface StreamFoldOptions {
  readonly projection: StreamProjection;
  readonly readModels: Pick<ReadModelStore, 'get'>;
  readonly lanes: LaneWrites;
  readonly log: Pick<StreamLog, 'read'>;
  readonly forgotten: Pick<ForgottenKeys, 'among'>;
  readonly generation: number;
}

/**
 * Folds records into the lanes that this process writes, of one generation of a read model over the stream log. The
 * applied offset of a lane is a document of the collection. Only the lane's newest claim writes it, after the documents
 * of the records. So redelivered records are skipped after a crash between apply and acknowledgement. Without the
 * offset, an event that a later record removed would reappear until that record is folded again.
 */
export class StreamFold {
  private readonly held = new Map<string, HeldLane>();
  /** Lanes that were released. Another process may have added documents to their groups since then. */
  private readonly given = new Set<string>();
  private sizes: GroupSizes;

  constructor(private readonly options: StreamFoldOptions) {
    this.sizes = new GroupSizes(options.projection);
  }

  /** Same as `appliedTo`, for callers that only read the read model. Default: the active generation. */
  static async storedOffset(
    readModels: Pick<ReadModelStore, 'get'>,
    schema: CollectionSchema,
    lane: string,
    generation?: number,
  ): Promise<number> {
    return (await readModels.get<LaneDoc>(schema, laneDocId(lane), generation))?.offset ?? -1;
  }

  /** Number of claimed lanes. */
  lanes(): number {
    return this.held.size;
  }

  /** Returns the lane's applied offset, -1 for none. */
  async appliedTo(lane: string): Promise<number> {
    const { readModels, projection, generation } = this.options;
    return (
      this.knownAppliedTo(lane) ?? (await StreamFold.storedOffset(readModels, projection.schema, lane, generation))
    );
  }

  /** Same as `appliedTo`, undefined for a lane that is not claimed. */
  knownAppliedTo(lane: string): number | undefined {
    return this.held.get(lane)?.applied.offset;
  }

  /** Releases the claim of a lane, which another process may write from now on. */
  release(lane: string): void {
    if (this.held.delete(lane)) this.given.add(lane);
  }

  /**
   * Folds the records, claims their lanes where needed, and writes the result. Skips records that were applied before.
   * Rejects with LaneLost when another process has claimed a lane, which a repeat claims back. Resolves with the number
   * of documents in the records, including those that are not kept.
   */
  async apply(records: readonly StoredRecord[]): Promise<number> {
    const lanes = byLane(records);
    try {
      return await this.write(await this.hold(lanes));
    } catch (error) {
      // It is unknown how much was written, so the next write needs a newer claim.
      for (const lane of lanes.keys()) this.release(lane);
      throw error;
    }
  }

  /**
   * Removes the documents of records with this key, and ends the claims of the lanes that may contain such records.
   * Call it once ForgottenKeys has the key. `removed` says that the lanes are deleted too.
   */
  async forget(key: string, ofKey: readonly string[], removed: boolean): Promise<void> {
    const { lanes, projection, generation } = this.options;
    const { schema } = projection;
    for (const lane of ofKey) this.release(lane);
    const progress = removed || ofKey.length === 0 ? 'removed' : 'unchanged';
    // A key without a lane has no progress. A claim under the key's own id then replaces the claim of a lane.
    const ids = ofKey.length === 0 ? [key] : ofKey;
    const claimed = await lanes.claimLanes<LaneDoc>(schema, generation, ids.map(laneDocId));
    const writes = projection.ofKey(key).map((where): DocumentWrite => ({ op: 'delete_range', where }));
    // The latest of these claims is newer than every claim that wrote the documents.
    const latest = Math.max(...claimed.map(({ claim }) => claim));
    const parts = claimed.map(({ id, claim }): LanePart => {
      return { id, claim, progress, writes: claim === latest ? writes : [] };
    });
    await lanes.applyLanes({ schema, generation, parts, trims: [] });
  }

  /** Claims the lanes that are not claimed yet, and fills them up to these records. */
  private async hold(records: RecordsByLane): Promise<readonly Work[]> {
    const { lanes, projection, generation } = this.options;
    const missing = [...records.keys()].filter((lane) => !this.held.has(lane));
    const works = [...records].flatMap(([lane, own]): Work[] => {
      const held = this.held.get(lane);
      return held ? [{ lane, held, records: own }] : [];
    });
    if (missing.length === 0) return works;
    if (this.given.size > MAX_GIVEN || missing.some((lane) => this.given.has(lane))) {
      this.sizes = new GroupSizes(projection);
      this.given.clear();
    }
    for (const { id, claim, progress } of await lanes.claimLanes<LaneDoc>(
      projection.schema,
      generation,
      missing.map(laneDocId),
    )) {
      const lane = id.slice(laneDocId('').length);
      const held: HeldLane = { claim, applied: progress ?? NOTHING, keys: new Map() };
      const work = { lane, held, records: records.get(lane) ?? [] };
      this.held.set(lane, held);
      await this.fill(work);
      works.push(work);
    }
    return works;
  }

  /**
   * Applies the records between the lane's progress and the first record that the log handed over. They were
   * acknowledged for an older generation of the read model, which a rebuild has replaced.
   */
  private async fill({ lane, held, records: [first] }: Work): Promise<void> {
    if (!first || isAnotherLog(first.origin, held.applied.origin)) return;
    for (let after = held.applied.offset; after + 1 < first.offset;) {
      const read = await this.options.log.read(lane, after, READ);
      const records = read.filter(({ offset }) => offset < first.offset);
      const last = records.at(-1);
      if (!last) return;
      await this.write([{ lane, held, records }]);
      after = last.offset;
    }
  }

  private async write(works: readonly Work[]): Promise<number> {
    await this.learnKeys(works);
    const { projection, lanes, generation } = this.options;
    const done: (() => void)[] = [];
    const parts: LanePart[] = [];
    const trims: Trim[] = [];
    let documents = 0;
    for (const { lane, held, records } of works) {
      const { fresh, applied } = freshOf(records, held);
      if (fresh.length === 0) continue;
      const newest = newestRecords(projection, fresh);
      const { writes, documents: more } = foldRecords(projection, newest, this.sizes);
      documents += more + fresh.length - newest.length;
      parts.push({
        id: laneDocId(lane),
        claim: held.claim,
        progress: this.laneDoc(lane, applied),
        writes: writes.filter((write) => !isTrim(write)),
      });
      trims.push(...writes.filter(isTrim));
      done.push(() => (held.applied = applied));
    }
    if (parts.length === 0) return 0;
    await lanes.applyLanes({ schema: projection.schema, generation, parts, trims });
    for (const note of done) note();
    return documents;
  }

  private async learnKeys(works: readonly Work[]): Promise<void> {
    const unknown = new Set<string>();
    for (const { held, records } of works) {
      if (held.keys.size > MAX_KEYS) held.keys.clear();
      for (const { key } of records) if (!held.keys.has(key)) unknown.add(key);
    }
    if (unknown.size === 0) return;
    const forgotten = await this.options.forgotten.among([...unknown]);
    for (const { held, records } of works) {
      for (const { key } of records) if (unknown.has(key)) held.keys.set(key, forgotten.has(key));
    }
  }

  private laneDoc(lane: string, applied: Applied): LaneDoc {
    const { indexed, sort, bytes } = this.options.projection.schema;
    const fields = Object.fromEntries([...indexed, sort].map((field) => [field, NO_GROUP]));
    const { offset, origin } = applied;
    const counted = bytes === undefined ? {} : { [bytes]: 0 };
    return { ...fields, ...counted, id: laneDocId(lane), lane, offset, ...(origin && { origin }) };
  }
}

const isTrim = (write: ReadModelWrite): write is Trim => write.op === 'trim';

const byLane = (records: readonly StoredRecord[]): RecordsByLane => {
  const lanes = new Map<string, StoredRecord[]>();
  for (const record of records) {
    const known = lanes.get(record.lane);
    if (known) known.push(record);
    else lanes.set(record.lane, [record]);
  }
  return lanes;
};

/** Returns the records that are neither applied nor of a forgotten key, and the lane's progress with them. */
const freshOf = (
  records: readonly StoredRecord[],
  { applied: before, keys }: HeldLane,
): { readonly fresh: readonly StoredRecord[]; readonly applied: Applied } => {
  let applied = before;
  const fresh = records.filter((record) => {
    const { offset, origin, key } = record;
    if (offset <= applied.offset && !isAnotherLog(origin, applied.origin)) return false;
    applied = { offset, ...(origin && { origin }) };
    return keys.get(key) !== true;
  });
  return { fresh, applied };
};
