import { type AnyBulkWriteOperation, type Collection } from 'mongodb';
import {
  type CollectionSchema,
  type DocumentWrite,
  type ReadModelWrite,
  type Trim,
  type Where,
} from '#libs/kernel/read-model-store.js';
import { BatchOperations, matching, within, type Key, type StoredDoc } from './read-model-documents.js';
import { forgetTotals, totalsAround } from './list-totals.js';
import { isDuplicateKey } from '../server-errors.js';

type Operation = AnyBulkWriteOperation<StoredDoc>;

/** Another writer with a later number has written a document of this batch. */
export class Overtaken extends Error {}

/** How often E11000 may come from two racing inserts of one id rather than from a later document. */
const ATTEMPTS = 3;
/** Operations of one request. Even a slow server completes this many well before the time-out. */
const BULK = 500;

export const operationOf = (operations: BatchOperations, write: DocumentWrite): Operation => {
  switch (write.op) {
    case 'put':
      return operations.put(write.doc);
    case 'delete':
      return operations.delete(write.id);
    case 'delete_range':
      return operations.deleteRange(write.where, write);
  }
};

/** Writes the documents of one numbered batch in order. Each has its own guard, so any part may be repeated. */
export class DocumentBatch {
  private readonly operations: BatchOperations;
  /** Ids of the totals that the batch changes. */
  private totals: readonly string[] = [];
  private readonly documents: GuardedDocuments;

  constructor(
    private readonly collection: Collection<StoredDoc>,
    private readonly schema: CollectionSchema,
    private readonly number: number,
    now: number,
    /** Whether all batches before this one have kept the totals of lists. */
    private readonly isWhole = true,
  ) {
    this.operations = new BatchOperations(schema, number, now);
    this.documents = new GuardedDocuments(collection, schema);
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
        // Their deletions are sent with the following writes.
        operations = await this.trimming(trims);
        trims = [];
      }
      if (write.op === 'trim') {
        await this.documents.send(operations);
        operations = [];
        trims.push(write);
      } else operations.push(operationOf(this.operations, write));
    }
    await this.documents.send([...(trims.length > 0 ? await this.trimming(trims) : operations), ...last]);
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

  private trimming(trims: readonly Trim[]): Promise<Operation[]> {
    return this.documents.trimming(trims, this.operations);
  }
}

/** Ordered writes of guarded documents, and what trims delete among them. */
export class GuardedDocuments {
  constructor(
    private readonly collection: Collection<StoredDoc>,
    private readonly schema: CollectionSchema,
  ) {}

  /** Resolves with the number of documents that `updateOne` found. Rejects with Overtaken at a later document. */
  async send(operations: readonly Operation[]): Promise<number> {
    let matched = 0;
    for (let at = 0; at < operations.length; at += BULK)
      matched += await this.sendBulk(operations.slice(at, at + BULK));
    return matched;
  }

  /** Looks up the documents that the trims delete. */
  async trimming(trims: readonly Trim[], operations: BatchOperations): Promise<Operation[]> {
    const highest = await Promise.all(trims.map((trim) => this.firstBeyond(trim)));
    return trims.flatMap(({ where }, i) => {
      const key = highest[i];
      return key ? [operations.trim(where, key)] : [];
    });
  }

  private async sendBulk(operations: readonly Operation[]): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      try {
        return (await this.collection.bulkWrite([...operations], { ordered: true })).matchedCount;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        if (attempt === ATTEMPTS) throw new Overtaken(`a document of ${this.schema.name} has a later writer`);
      }
    }
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
