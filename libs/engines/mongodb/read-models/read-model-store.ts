import { type Collection, type Db, type Filter } from 'mongodb';
import { KeyedMutex } from '#libs/async/serial-queue.js';
import { type Clock } from '#libs/kernel/clock.js';
import {
  CheckpointConflict,
  UnknownCursor,
  type ApplyBatch,
  type Checkpoint,
  type CollectionSchema,
  type Doc,
  type GenerationState,
  type Page,
  type PageQuery,
  type ReadModelStore,
  type Scanned,
  type ScanQuery,
} from '#libs/kernel/read-model-store.js';
import { type ClaimedLane, type LanesBatch, type LaneWrites } from '#libs/stream-log/lane-writes.js';
import { countedAt, isCounted, totalOf } from './list-totals.js';
import { DocumentBatch, Overtaken } from './read-model-batch.js';
import { scanOf } from './read-model-scan.js';
import { between, matching, within, type Key, type StoredDoc } from './read-model-documents.js';
import { ReadModelGenerations, type Progress } from './read-model-generations.js';
import { ReadModelLanes } from './read-model-lanes.js';

export interface MongoReadModelOptions {
  readonly clock: Clock;
  readonly onWarning: (text: string, fields: object) => void;
  /** Batches of a generation between two searches for old tombstones. */
  readonly batchesPerSweep?: number;
}

/** Age of tombstones at their removal, longer than an owner of a read model can hang and then continue. */
const TOMBSTONE_MS = 60 * 60_000;
const BATCHES_PER_SWEEP = 250;
const IDS_PER_QUERY = 1_000;

/**
 * ReadModelStore on MongoDB: a collection per generation, no transactions.
 *
 * Batches of a generation are numbered. A writer reserves a number together with the checkpoint by compare-and-set. It
 * writes its documents, each guarded by that number. It then commits the checkpoint by compare-and-set, which reserves
 * the next number. So an overtaken writer fails at the commit at the latest, whatever both wrote. After a crash in
 * between, the same events are applied again under a greater number.
 */
export class MongoReadModelStore implements ReadModelStore, LaneWrites {
  private readonly generations: ReadModelGenerations;
  /** The number that this store reserved for its next batch, by read model and generation. */
  private readonly ownBatches = new Map<string, number>();
  private readonly active = new Map<string, number>();
  private readonly turns = new KeyedMutex();
  private readonly lanes: ReadModelLanes;
  private lanesBatches = 0;

  constructor(
    db: Db,
    private readonly options: MongoReadModelOptions,
  ) {
    this.generations = new ReadModelGenerations(db);
    this.lanes = new ReadModelLanes(
      this.generations,
      () => options.clock.now(),
      (what, schema, error) => this.warn(what, schema, error),
    );
  }

  async register(schema: CollectionSchema): Promise<GenerationState> {
    const state = await this.generations.register(schema);
    this.active.set(schema.name, state.active);
    return state;
  }

  apply(batch: ApplyBatch): Promise<void> {
    return this.turns.run(`${batch.schema.name}#${batch.generation}`, () => this.applyInTurn(batch));
  }

  claimLanes<D extends Doc>(
    schema: CollectionSchema,
    generation: number,
    ids: readonly string[],
  ): Promise<readonly ClaimedLane<D>[]> {
    return this.lanes.claim<D>(schema, generation, ids);
  }

  async applyLanes(batch: LanesBatch): Promise<void> {
    await this.lanes.apply(batch);
    if (++this.lanesBatches % this.batchesPerSweep() === 0) await this.sweep(batch);
  }

  async checkpoints(schemas: readonly CollectionSchema[]): Promise<readonly (Checkpoint | null)[]> {
    const states = await this.generations.states(schemas.map(({ name }) => name));
    // A caller that waits for a checkpoint reads next, and must read the generation with that checkpoint.
    for (const [name, { active }] of states) this.active.set(name, active);
    return schemas.map(({ name }) => states.get(name)?.checkpoint ?? null);
  }

  async get<D extends Doc>(schema: CollectionSchema, id: string, generation?: number): Promise<D | undefined> {
    return (await this.getMany<D>(schema, [id], generation))[0];
  }

  async getMany<D extends Doc>(
    schema: CollectionSchema,
    ids: readonly string[],
    generation?: number,
  ): Promise<readonly (D | undefined)[]> {
    const query = async (collection: Collection<StoredDoc>): Promise<(D | undefined)[]> => {
      const found = new Map<string, D>();
      for (let i = 0; i < ids.length; i += IDS_PER_QUERY) {
        const wanted = [...new Set(ids.slice(i, i + IDS_PER_QUERY))];
        const stored = await collection
          .find({ _id: { $in: wanted } }, { batchSize: IDS_PER_QUERY + 1 })
          .project<{ _id: string; doc?: string }>({ doc: 1 })
          .toArray();
        for (const { _id, doc } of stored) if (doc !== undefined) found.set(_id, JSON.parse(doc) as D);
      }
      return ids.map((id) => found.get(id));
    };
    if (generation !== undefined) return query(this.generations.documents(schema.name, generation));
    return this.fromActive(schema, query, (docs) => !docs.includes(undefined));
  }

  async text(schema: CollectionSchema, id: string, generation?: number): Promise<string | undefined> {
    const query = async (collection: Collection<StoredDoc>): Promise<string | undefined> =>
      (await collection.findOne({ _id: id }, { projection: { beside: 1 } }))?.beside;
    if (generation !== undefined) return query(this.generations.documents(schema.name, generation));
    return this.fromActive(schema, query, (text) => text !== undefined);
  }

  page<D extends Doc>(schema: CollectionSchema, query: PageQuery): Promise<Page<D>> {
    return this.fromActive(
      schema,
      (collection, generation) =>
        pageOf<D>(collection, schema, query, () => this.generations.progress(schema.name, generation)),
      ({ docs, total }) => docs.length > 0 && (total > 0 || query.withTotal === false),
    );
  }

  scan<D extends Doc>(schema: CollectionSchema, query: ScanQuery): Promise<Scanned<D>> {
    return this.fromActive(
      schema,
      (collection) => scanOf<D>(collection, schema, query),
      ({ examined }) => examined > 0,
    );
  }

  beginGeneration(schema: CollectionSchema): Promise<number> {
    return this.generations.begin(schema);
  }

  async activateGeneration(schema: CollectionSchema, generation: number): Promise<void> {
    await this.generations.activate(schema, generation);
    this.active.set(schema.name, generation);
  }

  /**
   * Queries the generation last known to be active. A replaced generation is soon dropped, and MongoDB treats a dropped
   * collection as an empty one. So an answer that is not `whole` counts only if the generation is still active.
   */
  private async fromActive<T>(
    { name }: CollectionSchema,
    query: (collection: Collection<StoredDoc>, generation: number) => Promise<T>,
    whole: (answer: T) => boolean,
  ): Promise<T> {
    for (;;) {
      const active = this.active.get(name) ?? (await this.generations.active(name));
      this.active.set(name, active);
      const asked = query(this.generations.documents(name, active), active);
      const [outcome] = await Promise.allSettled([asked]);
      if (outcome.status === 'fulfilled' && whole(outcome.value)) return outcome.value;
      const now = await this.generations.active(name);
      if (now === active) return asked;
      this.active.set(name, now);
    }
  }

  private async applyInTurn(batch: ApplyBatch): Promise<void> {
    const { schema, generation, expected, next, writes } = batch;
    const key = `${schema.name}#${generation}`;
    try {
      const known = await this.own(batch);
      const documents = this.generations.documents(schema.name, generation);
      const isWhole = isCounted(schema, known);
      const writer = new DocumentBatch(documents, schema, known.batch, this.options.clock.now(), isWhole);
      try {
        await writer.write(writes);
        const committed = { checkpoint: next, batch: known.batch + 1, counted: countedAt(schema, known.batch + 1) };
        if (!(await this.generations.advance(schema.name, generation, known, committed))) {
          throw new Overtaken(`batch ${known.batch} of ${schema.name} was overtaken`);
        }
        this.ownBatches.set(key, committed.batch);
      } catch (error) {
        if (!(error instanceof Overtaken)) throw error;
        await writer
          .withdraw(writes)
          .catch((cause: unknown) => this.warn('take back what an overtaken batch inserted', schema, cause));
        throw new CheckpointConflict(schema.name, expected, await this.checkpointOf(batch));
      }
      if (known.batch % this.batchesPerSweep() === 0) await this.sweep(batch);
    } catch (error) {
      // The outcome of the writes is unknown, so the next batch needs a greater number.
      this.ownBatches.delete(key);
      throw error;
    }
  }

  /** Reserves a number unless this store already has one. Writes nothing for a stale owner. */
  private async own({ schema, generation, expected }: ApplyBatch): Promise<Progress> {
    for (;;) {
      const stored = await this.generations.progress(schema.name, generation);
      if (stored?.checkpoint !== expected) {
        throw new CheckpointConflict(schema.name, expected, stored?.checkpoint ?? null);
      }
      if (stored.batch === this.ownBatches.get(`${schema.name}#${generation}`)) return stored;
      const batch = stored.batch + 1;
      const mine = { ...stored, batch, counted: isCounted(schema, stored) ? countedAt(schema, batch) : stored.counted };
      if (await this.generations.advance(schema.name, generation, stored, mine)) return mine;
    }
  }

  private async checkpointOf({ schema, generation }: ApplyBatch): Promise<Checkpoint | null> {
    return (await this.generations.progress(schema.name, generation))?.checkpoint ?? null;
  }

  private batchesPerSweep(): number {
    return this.options.batchesPerSweep ?? BATCHES_PER_SWEEP;
  }

  /** Removes old tombstones. A failure does no harm. */
  private async sweep({ schema, generation }: Pick<ApplyBatch, 'schema' | 'generation'>): Promise<void> {
    await this.generations
      .documents(schema.name, generation)
      .deleteMany({ died: { $lt: this.options.clock.now() - TOMBSTONE_MS } })
      .catch((error: unknown) => this.warn('sweep tombstones', schema, error));
  }

  private warn(what: string, { name }: CollectionSchema, error: unknown): void {
    this.options.onWarning(`could not ${what}`, { collection: name, error: String(error) });
  }
}

const pageOf = async <D extends Doc>(
  collection: Collection<StoredDoc>,
  schema: CollectionSchema,
  { where, from, to, limit, withTotal = true, after, before, sortOf }: PageQuery,
  progress: () => Promise<Progress | undefined>,
): Promise<Page<D>> => {
  const hasEnds = from !== undefined || to !== undefined;
  const span = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const matches = { ...matching(schema, where), ...(hasEnds ? within(span) : {}) };
  const keys = await keysOf(
    collection,
    matches,
    [after, before].filter((cursor) => cursor !== undefined),
    sortOf,
  );
  const bounds = between(
    after === undefined ? undefined : keys.get(after),
    before === undefined ? undefined : keys.get(before),
  );
  // With `before` alone, read upwards from it and reverse the result.
  const direction = before !== undefined && after === undefined ? 1 : -1;
  const count = (): Promise<number> =>
    collection.countDocuments(Object.keys(matches).length > 0 ? matches : within({}));
  const [total, stored] = await Promise.all([
    withTotal ? (hasEnds ? count() : totalOf(collection, schema, where, progress, count)) : 0,
    limit > 0
      ? collection
          .find(hasEnds ? { $and: [matches, bounds] } : { ...matches, ...bounds })
          .sort({ sort: direction, _id: direction })
          .limit(limit)
          .batchSize(limit + 1)
          .project<{ doc: string }>({ doc: 1 })
          .toArray()
      : [],
  ]);
  const docs = stored.map(({ doc }) => JSON.parse(doc) as D);
  return { docs: direction === 1 ? docs.reverse() : docs, total };
};

/** Rejects with UnknownCursor for a cursor that is not in the list. */
const keysOf = async (
  collection: Collection<StoredDoc>,
  matches: Filter<StoredDoc>,
  cursors: readonly string[],
  sortOf: PageQuery['sortOf'],
): Promise<ReadonlyMap<string, Key>> => {
  const keys = new Map<string, Key>();
  if (cursors.length === 0) return keys;
  const found = await collection
    .find({ ...matches, _id: { $in: [...cursors] } }, { projection: { sort: 1 } })
    .toArray();
  for (const { _id: id, sort } of found) if (sort !== undefined) keys.set(id, { sort, id });
  for (const id of cursors) {
    const sort = keys.has(id) ? undefined : sortOf?.(id);
    if (sort !== undefined) keys.set(id, { sort, id });
    else if (!keys.has(id)) throw new UnknownCursor(id);
  }
  return keys;
};
