import { type AnyBulkWriteOperation, type Collection } from 'mongodb';
import { type CollectionSchema, type ReadModelWrite, type Where } from '#libs/kernel/read-model-store.js';
import { BatchOperations, matching, within, type Key, type StoredDoc } from './read-model-documents.js';
import { forgetTotals, totalsAround } from './list-totals.js';
import { isDuplicateKey } from '../server-errors.js';

type Operation = AnyBulkWriteOperation<StoredDoc>;

interface Trim {
  readonly where: Where;
  readonly keep?: number;
  readonly bytes?: number;
}

/** Another writer took a later number and wrote a document of this batch. */
export class Overtaken extends Error {}

/** How often E11000 may come from two racing inserts of one id rather than from a later document. */
const ATTEMPTS = 3;
/** Operations of one request. Even a slow server answers so many well before the time-out, so work progresses. */
const BULK = 500;

/** Writes the documents of one numbered batch in order. Each is guarded by itself, so any part may be repeated. */
export class DocumentBatch {
  private readonly operations: BatchOperations;
  /** Ids of the totals that the batch changes. */
  private totals: readonly string[] = [];

  constructor(
    private readonly collection: Collection<StoredDoc>,
    private readonly schema: CollectionSchema,
    private readonly number: number,
    now: number,
    /** Whether all batches before this one have kept the totals of lists. */
    private readonly isWhole = true,
  ) {
    this.operations = new BatchOperations(schema, number, now);
  }

  /**
   * Takes a round trip for each 500 writes. Each run of trims takes two more, because its deletions depend on the
   * earlier writes. Rejects with Overtaken when a document is of a later batch.
   */
  async write(writes: readonly ReadModelWrite[]): Promise<void> {
    const { collection, schema, number: batch, isWhole } = this;
    const { first, last, totals } = await totalsAround(collection, schema, { batch, isWhole }, writes);
    this.totals = totals;
    let operations: Operation[] = [...first];
    let trims: Trim[] = [];
    for (const write of writes) {
      if (write.op !== 'trim' && trims.length > 0) {
        // Their deletions are sent with the writes that follow.
        operations = await this.trimming(trims);
        trims = [];
      }
      switch (write.op) {
        case 'put':
          operations.push(this.operations.put(write.doc));
          break;
        case 'delete':
          operations.push(this.operations.delete(write.id));
          break;
        case 'delete_range':
          operations.push(this.operations.deleteRange(write.where, write));
          break;
        case 'trim':
          await this.send(operations);
          operations = [];
          trims.push(write);
      }
    }
    await this.send([...(trims.length > 0 ? await this.trimming(trims) : operations), ...last]);
  }

  /**
   * Removes what this batch inserted after it was overtaken. The later writer could not delete these documents, because
   * they did not exist yet.
   */
  async withdraw(writes: readonly ReadModelWrite[]): Promise<void> {
    const ids = writes.flatMap((write) => (write.op === 'put' ? [write.doc.id] : []));
    if (ids.length > 0) await this.collection.deleteMany({ _id: { $in: ids }, born: this.number, at: this.number });
    await forgetTotals(this.collection, this.totals);
  }

  private async send(operations: readonly Operation[]): Promise<void> {
    for (let at = 0; at < operations.length; at += BULK) await this.sendBulk(operations.slice(at, at + BULK));
  }

  private async sendBulk(operations: readonly Operation[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.collection.bulkWrite([...operations], { ordered: true });
        return;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        if (attempt === ATTEMPTS) throw new Overtaken(`batch ${this.number} of ${this.schema.name} was overtaken`);
      }
    }
  }

  private async trimming(trims: readonly Trim[]): Promise<Operation[]> {
    const highest = await Promise.all(trims.map((trim) => this.firstBeyond(trim)));
    return trims.flatMap(({ where }, i) => {
      const key = highest[i];
      return key ? [this.operations.trim(where, key)] : [];
    });
  }

  /** Finds the highest document that the trim deletes. */
  private async firstBeyond({ where, keep, bytes }: Trim): Promise<Key | undefined> {
    const keys = [
      keep === undefined ? undefined : await this.beyondCount(where, keep),
      bytes === undefined ? undefined : await this.beyondBytes(where, bytes),
    ];
    return keys.reduce((a, b) => (a && b ? (a.sort > b.sort || (a.sort === b.sort && a.id > b.id) ? a : b) : (a ?? b)));
  }

  /** Sums on the server, then walks the excess, oldest first. */
  private async beyondBytes(where: Where, limit: number): Promise<Key | undefined> {
    const match = { ...matching(this.schema, where), ...within({}) };
    const [sum] = await this.collection
      .aggregate<{ total: number }>([{ $match: match }, { $group: { _id: null, total: { $sum: '$bytes' } } }])
      .toArray();
    let excess = (sum?.total ?? 0) - limit;
    if (excess <= 0) return undefined;
    const oldest = this.collection.find(match, {
      sort: { sort: 1, _id: 1 },
      projection: { sort: 1, bytes: 1 },
      batchSize: BULK,
    });
    let highest: Key | undefined;
    for await (const { _id: id, sort, bytes } of oldest) {
      if (sort !== undefined) highest = { sort, id };
      excess -= bytes ?? 0;
      if (excess <= 0) break;
    }
    return highest;
  }

  private async beyondCount(where: Where, keep: number): Promise<Key | undefined> {
    const found = await this.collection.findOne(
      { ...matching(this.schema, where), ...within({}) },
      { sort: { sort: -1, _id: -1 }, skip: Math.max(0, keep), projection: { sort: 1 } },
    );
    return found?.sort === undefined ? undefined : { sort: found.sort, id: found._id };
  }
}
