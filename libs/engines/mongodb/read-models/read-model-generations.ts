import { type Collection, type Db } from 'mongodb';
import { type Checkpoint, type CollectionSchema, type GenerationState } from '#libs/kernel/read-model-store.js';
import { counted } from '#libs/kernel/counted-checkpoint.js';
import { DURABLE } from '../durable.js';
import { ensureIndexes } from '../ensure-indexes.js';
import { countedAt } from './list-totals.js';
import { collectionName, generationPattern, indexesOf, type StoredDoc } from './read-model-documents.js';
import { isDuplicateKey } from '../server-errors.js';

/** Checkpoint of a generation, and the number of the batch that may be written next. */
export interface Progress {
  readonly checkpoint: Checkpoint | null;
  /** Owned by the writer that set it. Any other writer first reserves a greater number. */
  readonly batch: number;
  /** `countedAt` this batch if all before it kept the totals of lists. */
  readonly counted?: string | undefined;
}

interface ReadModelDoc {
  readonly _id: string;
  /** Text that differs between two different schemas of one name. */
  readonly shape: string;
  readonly active: number;
  readonly last: number;
  readonly generations: Readonly<Record<`g${number}`, Progress>>;
}

interface Change {
  readonly active: number;
  readonly last: number;
  readonly kept: readonly number[];
  readonly added: Readonly<Record<string, Progress>>;
}

const nothing = (schema: CollectionSchema): Progress => {
  const counted = countedAt(schema, 0);
  return { checkpoint: null, batch: 0, ...(counted === undefined ? {} : { counted }) };
};

/**
 * One document per read model, with the active generation and each generation's checkpoint. Every change is one
 * guarded write of it. So a switch is atomic, and of two concurrent owners only one succeeds.
 */
export class ReadModelGenerations {
  private readonly models: Collection<ReadModelDoc>;

  constructor(private readonly db: Db) {
    this.models = db.collection<ReadModelDoc>('read_models', DURABLE);
  }

  documents(name: string, generation: number): Collection<StoredDoc> {
    return this.db.collection<StoredDoc>(collectionName(name, generation), DURABLE);
  }

  /** Creates the read model when it is missing. Two processes may do so at once. */
  async register(schema: CollectionSchema): Promise<GenerationState> {
    const { name, bytes, beside } = schema;
    const shape = JSON.stringify({
      indexed: [...schema.indexed].sort(),
      sort: schema.sort,
      ...(bytes === undefined ? {} : { bytes }),
      ...(beside === undefined ? {} : { beside }),
    });
    const fresh = { shape, active: 1, last: 1, generations: { g1: nothing(schema) } };
    await this.models.updateOne({ _id: name }, { $setOnInsert: fresh }, { upsert: true }).catch((error: unknown) => {
      // Another process inserted it between the server's lookup and its insert.
      if (!isDuplicateKey(error)) throw error;
    });
    const stored = await this.model(name);
    if (stored.shape !== shape) {
      throw new Error(
        `collection ${name} is stored as ${stored.shape}, asked for as ${shape}: a changed projection needs a new name (.v2)`,
      );
    }
    await ensureIndexes(this.documents(name, stored.active), indexesOf(schema));
    await this.dropLeftovers(name);
    return { active: stored.active, checkpoint: stored.generations[`g${stored.active}`]?.checkpoint ?? null };
  }

  async active(name: string): Promise<number> {
    return (await this.model(name)).active;
  }

  /** Returns undefined when the generation does not exist, or no longer. */
  async progress(name: string, generation: number): Promise<Progress | undefined> {
    const model = await this.models.findOne({ _id: name });
    return model?.generations[`g${generation}`];
  }

  /** Active generations and their checkpoints, for the read models that exist. */
  async states(names: readonly string[]): Promise<ReadonlyMap<string, GenerationState>> {
    const models = await this.models.find({ _id: { $in: [...names] } }).toArray();
    return new Map(
      models.map(({ _id, active, generations }) => [
        _id,
        { active, checkpoint: generations[`g${active}`]?.checkpoint ?? null },
      ]),
    );
  }

  /** Replaces the stored progress `known` by `next`. False when another process did so or the generation is gone. */
  async advance(name: string, generation: number, known: Progress, next: Progress): Promise<boolean> {
    const path = `generations.g${generation}`;
    const { matchedCount } = await this.models.updateOne(
      { _id: name, [`${path}.batch`]: known.batch, [`${path}.checkpoint`]: known.checkpoint },
      {
        $set: {
          [`${path}.batch`]: next.batch,
          [`${path}.checkpoint`]: next.checkpoint,
          ...(next.counted === undefined ? {} : { [`${path}.counted`]: next.counted }),
        },
      },
    );
    return matchedCount === 1;
  }

  /** Reserves a number that no writer of the generation had before. Undefined when the generation is gone. */
  async takeNumber(name: string, generation: number): Promise<number | undefined> {
    for (;;) {
      const stored = await this.progress(name, generation);
      if (!stored) return undefined;
      const batch = stored.batch + 1;
      if (await this.advance(name, generation, stored, { checkpoint: counted(batch), batch })) return batch;
    }
  }

  async begin(schema: CollectionSchema): Promise<number> {
    const { last } = await this.change(schema.name, ({ active, last: former }) => {
      const next = former + 1;
      return { active, last: next, kept: [active], added: { [`generations.g${next}`]: nothing(schema) } };
    });
    await ensureIndexes(this.documents(schema.name, last), indexesOf(schema));
    await this.dropLeftovers(schema.name);
    return last;
  }

  /** Does nothing when it is already active. */
  async activate({ name }: CollectionSchema, generation: number): Promise<void> {
    await this.change(name, ({ last, generations }) => {
      if (!generations[`g${generation}`]) {
        throw new Error(`collection ${name} has no generation ${generation} to activate`);
      }
      return { active: generation, last, kept: [generation], added: {} };
    });
    await this.dropLeftovers(name);
  }

  /** Adds and drops generations in one write, guarded by what was read. Retries when another process was faster. */
  private async change(name: string, decide: (model: ReadModelDoc) => Change): Promise<Change> {
    for (;;) {
      const model = await this.model(name);
      const change = decide(model);
      const { active, last, kept, added } = change;
      const gone = Object.keys(model.generations).filter((key) => !kept.some((number) => key === `g${number}`));
      const { matchedCount } = await this.models.updateOne(
        { _id: name, active: model.active, last: model.last },
        {
          $set: { active, last, ...added },
          $unset: Object.fromEntries(gone.map((key) => [`generations.${key}`, ''] as const)),
        },
      );
      if (matchedCount === 1) return change;
    }
  }

  /**
   * Drops collections of former generations, also those that a stale owner recreated by writing to them. The names are
   * read before the document, and a generation is in the document before its collection exists.
   */
  private async dropLeftovers(name: string): Promise<void> {
    const listed = await this.db
      .listCollections({ name: { $regex: generationPattern(name) } }, { nameOnly: true })
      .toArray();
    const { generations } = await this.model(name);
    for (const { name: collection } of listed) {
      const number = Number(generationPattern(name).exec(collection)?.[1]);
      if (!generations[`g${number}`]) await this.db.collection(collection).drop();
    }
  }

  private async model(name: string): Promise<ReadModelDoc> {
    const model = await this.models.findOne({ _id: name });
    if (!model) throw new Error(`collection ${name} is not registered`);
    return model;
  }
}
