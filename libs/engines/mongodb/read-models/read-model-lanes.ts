import { type AnyBulkWriteOperation, type Collection } from 'mongodb';
import { type CollectionSchema, type Doc } from '#libs/kernel/read-model-store.js';
import { LaneLost, type ClaimedLane, type LanePart, type LanesBatch } from '#libs/stream-log/lane-writes.js';
import { isDuplicateKey } from '../server-errors.js';
import { GuardedDocuments, operationOf, Overtaken } from './read-model-batch.js';
import { BatchOperations, type StoredDoc } from './read-model-documents.js';
import { type ReadModelGenerations } from './read-model-generations.js';

const IDS_PER_REQUEST = 500;
/** Trims may delete what any writer wrote. */
const ANY_WRITER = Number.MAX_SAFE_INTEGER;

/**
 * Read models whose lanes several processes write (docs/adr/0048). A claim is a number of the generation, stored in the
 * lane's progress document. It guards the lane's documents, and the progress changes only while the number is there.
 */
export class ReadModelLanes {
  constructor(
    private readonly generations: ReadModelGenerations,
    private readonly now: () => number,
    private readonly onWarning: (what: string, schema: CollectionSchema, error: unknown) => void,
  ) {}

  async claim<D extends Doc>(
    schema: CollectionSchema,
    generation: number,
    ids: readonly string[],
  ): Promise<readonly ClaimedLane<D>[]> {
    // A total needs one writer (docs/adr/0014).
    if (schema.counted) throw new Error(`the lists of ${schema.name} have totals, so it cannot have lanes`);
    const documents = this.generations.documents(schema.name, generation);
    const claimed: ClaimedLane<D>[] = [];
    let left = [...new Set(ids)];
    while (left.length > 0) {
      const claim = await this.generations.takeNumber(schema.name, generation);
      if (claim === undefined) throw new LaneLost(schema.name, ids);
      const taken = new Map<string, D | undefined>();
      for (let i = 0; i < left.length; i += IDS_PER_REQUEST) {
        await this.take(documents, left.slice(i, i + IDS_PER_REQUEST), claim, taken);
      }
      for (const [id, progress] of taken) claimed.push({ id, claim, progress });
      // The other lanes have a later claim of another process, which this process follows with a new one.
      left = left.filter((id) => !taken.has(id));
    }
    return claimed;
  }

  async apply({ schema, generation, parts, trims }: LanesBatch): Promise<void> {
    const documents = this.generations.documents(schema.name, generation);
    const guarded = new GuardedDocuments(documents, schema);
    const written = this.write(guarded, schema, parts);
    // The log has these records already, so a rebuild that replaces the generation from here on reads them itself.
    const [stored, wrote] = await Promise.allSettled([this.generations.progress(schema.name, generation), written]);
    if (wrote.status === 'rejected') {
      if (!(wrote.reason instanceof Overtaken)) throw wrote.reason;
      await this.lose(documents, schema, parts);
    }
    if (stored.status === 'rejected') throw stored.reason;
    if (!stored.value) throw new LaneLost(schema.name, idsOf(parts));
    const trimming = await guarded.trimming(trims, new BatchOperations(schema, ANY_WRITER, this.now()));
    const matched = await guarded.send([...trimming, ...parts.map((part) => this.progressOf(schema, part))]);
    if (matched === parts.length) return;
    const held = await documents
      .find({ _id: { $in: idsOf(parts) } })
      .project<{ _id: string; at: number }>({ at: 1 })
      .toArray();
    const claims = new Map(held.map(({ _id, at }) => [_id, at]));
    await this.lose(
      documents,
      schema,
      parts.filter(({ id, claim }) => claims.get(id) !== claim),
    );
  }

  private async write(guarded: GuardedDocuments, schema: CollectionSchema, parts: readonly LanePart[]): Promise<void> {
    const now = this.now();
    await guarded.send(
      parts.flatMap(({ claim, writes }) => {
        const operations = new BatchOperations(schema, claim, now);
        return writes.map((write) => operationOf(operations, write));
      }),
    );
  }

  private progressOf(schema: CollectionSchema, { id, claim, progress }: LanePart): AnyBulkWriteOperation<StoredDoc> {
    const operations = new BatchOperations(schema, claim, this.now());
    if (progress === 'unchanged') return operations.keepLane(id);
    return progress === 'removed' ? operations.removeLane(id) : operations.progress(progress);
  }

  /** Stamps the claim, then reads the progress of the lanes that have it. */
  private async take<D extends Doc>(
    documents: Collection<StoredDoc>,
    ids: readonly string[],
    claim: number,
    taken: Map<string, D | undefined>,
  ): Promise<void> {
    const stamps = ids.map((id) => ({
      updateOne: { filter: { _id: id, at: { $lt: claim } }, update: { $set: { at: claim } }, upsert: true },
    }));
    await documents.bulkWrite(stamps, { ordered: false }).catch((error: unknown) => {
      // The lane has a later claim, perhaps since the moment between the server's look-up and its insert.
      if (!isDuplicateKey(error)) throw error;
    });
    const stored = await documents
      .find({ _id: { $in: [...ids] }, at: claim }, { batchSize: IDS_PER_REQUEST + 1 })
      .project<{ _id: string; doc?: string }>({ doc: 1 })
      .toArray();
    for (const { _id, doc } of stored) taken.set(_id, doc === undefined ? undefined : (JSON.parse(doc) as D));
  }

  /**
   * Removes the documents that were inserted before the lanes were lost, because the next owners could not delete
   * documents that did not exist yet. None of them is in the lanes' progress.
   */
  private async lose(
    documents: Collection<StoredDoc>,
    schema: CollectionSchema,
    parts: readonly LanePart[],
  ): Promise<never> {
    for (const { claim, writes } of parts) {
      const ids = writes.flatMap((write) => (write.op === 'put' ? [write.doc.id] : []));
      if (ids.length === 0) continue;
      await documents
        .deleteMany({ _id: { $in: ids }, born: claim, at: claim })
        .catch((error: unknown) => this.onWarning('take back what a lost lane inserted', schema, error));
    }
    throw new LaneLost(schema.name, idsOf(parts));
  }
}

const idsOf = (parts: readonly LanePart[]): string[] => parts.map(({ id }) => id);
