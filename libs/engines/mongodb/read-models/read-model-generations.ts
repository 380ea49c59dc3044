import { type Collection, type Db } from 'mongodb';
import { type Checkpoint, type CollectionSchema, type GenerationState } from '#libs/kernel/read-model-store.js';
import { DURABLE } from '../durable.js';
import { ensureIndexes } from '../ensure-indexes.js';
import { collectionName, generationPattern, indexesOf, type StoredDoc } from './read-model-documents.js';
import { isDuplicateKey } from '../server-errors.js';

/** How far a generation has come, and the number of the batch that may be written next. */
export interface Progress {
  readonly checkpoint: Checkpoint | null;
  /** Taken by the writer that set it: any other one takes a greater one first. */
  readonly batch: number;
}

interface ReadModelDoc {
  readonly _id: string;
  /** What tells two schemas of one name apart. */
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

const NOTHING: Progress = { checkpoint: null, batch: 0 };

/**
 * One document per read model: which generation is active, and each generation's checkpoint. Every change is one
 * guarded write of it, so that a switch is atomic and of two owners one gets through.
 */
export class ReadModelGenerations {
  private readonly models: Collection<ReadModelDoc>;

  constructor(private readonly db: Db) {
    this.models = db.collection<ReadModelDoc>('read_models', DURABLE);
  }

  documents(name: string, generation: number): Collection<StoredDoc> {
    return this.db.collection<StoredDoc>(collectionName(name, generation), DURABLE);
  }

  /** Creates the read model if need be; two processes may do so at once. */
  async register(schema: CollectionSchema): Promise<GenerationState> {
    const { name, bytes, beside } = schema;
    for (const former of schema.replaces ?? []) await this.remove(former);
    const shape = JSON.stringify({
      indexed: [...schema.indexed].sort(),
      sort: schema.sort,
      ...(bytes === undefined ? {} : { bytes }),
      ...(beside === undefined ? {} : { beside }),
    });
    const fresh = { shape, active: 1, last: 1, generations: { g1: NOTHING } };
    await this.models.updateOne({ _id: name }, { $setOnInsert: fresh }, { upsert: true }).catch((error: unknown) => {
      // Another process inserted it between the server's look and its insert.
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

  /** undefined: no such generation, or no longer. */
  async progress(name: string, generation: number): Promise<Progress | undefined> {
    const model = await this.models.findOne({ _id: name });
    return model?.generations[`g${generation}`];
  }

  /** Active generation and its checkpoint, of those that exist. */
  async states(names: readonly string[]): Promise<ReadonlyMap<string, GenerationState>> {
    const models = await this.models.find({ _id: { $in: [...names] } }).toArray();
    return new Map(
      models.map(({ _id, active, generations }) => [
        _id,
        { active, checkpoint: generations[`g${active}`]?.checkpoint ?? null },
      ]),
    );
  }

  /** Sets what is stored to `next` if it is `known`. False: somebody else did, or the generation is gone. */
  async advance(name: string, generation: number, known: Progress, next: Progress): Promise<boolean> {
    const path = `generations.g${generation}`;
    const { matchedCount } = await this.models.updateOne(
      { _id: name, [`${path}.batch`]: known.batch, [`${path}.checkpoint`]: known.checkpoint },
      { $set: { [`${path}.batch`]: next.batch, [`${path}.checkpoint`]: next.checkpoint } },
    );
    return matchedCount === 1;
  }

  async begin(schema: CollectionSchema): Promise<number> {
    const { last } = await this.change(schema.name, ({ active, last: former }) => {
      const next = former + 1;
      return { active, last: next, kept: [active], added: { [`generations.g${next}`]: NOTHING } };
    });
    await ensureIndexes(this.documents(schema.name, last), indexesOf(schema));
    await this.dropLeftovers(schema.name);
    return last;
  }

  /** Nothing, when it is active already. */
  async activate({ name }: CollectionSchema, generation: number): Promise<void> {
    await this.change(name, ({ last, generations }) => {
      if (!generations[`g${generation}`]) {
        throw new Error(`collection ${name} has no generation ${generation} to activate`);
      }
      return { active: generation, last, kept: [generation], added: {} };
    });
    await this.dropLeftovers(name);
  }

  /** Takes up and drops generations in one write, guarded by what was read; again when somebody else was faster. */
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
   * Collections of generations that are no more, also those that a stale owner brought back by writing to them. The
   * names are read before the document, and a generation is in the document before it has a collection.
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

  /** Nothing, when it is not there. The document goes first: what is left of a crash in between goes at the next start. */
  private async remove(name: string): Promise<void> {
    await this.models.deleteOne({ _id: name });
    const listed = await this.db
      .listCollections({ name: { $regex: generationPattern(name) } }, { nameOnly: true })
      .toArray();
    for (const { name: collection } of listed) await this.db.collection(collection).drop();
  }

  private async model(name: string): Promise<ReadModelDoc> {
    const model = await this.models.findOne({ _id: name });
    if (!model) throw new Error(`collection ${name} is not registered`);
    return model;
  }
}
