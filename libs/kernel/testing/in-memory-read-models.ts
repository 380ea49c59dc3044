import { scanned } from '../scanned.js';
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
  type ReadModelWrite,
  type PageWhere,
  type Scanned,
  type ScanQuery,
} from '../read-model-store.js';

interface Generation {
  readonly docs: Map<string, Doc>;
  checkpoint: Checkpoint | null;
}
interface Collection {
  readonly generations: Map<number, Generation>;
  active: number;
}

/** Complete in-memory ReadModelStore for specs of queries and projectors. Keeps the port's contract. */
export class InMemoryReadModels implements ReadModelStore {
  private readonly collections = new Map<string, Collection>();

  /** Fills the active generation directly, for specs of queries. */
  async put(schema: CollectionSchema, ...docs: readonly Doc[]): Promise<void> {
    await this.register(schema);
    for (const doc of docs) this.generation(schema).docs.set(doc.id, structuredClone(doc));
  }

  async register(schema: CollectionSchema): Promise<GenerationState> {
    let collection = this.collections.get(schema.name);
    if (!collection) {
      collection = { active: 1, generations: new Map([[1, { docs: new Map(), checkpoint: null }]]) };
      this.collections.set(schema.name, collection);
    }
    return { active: collection.active, checkpoint: this.generation(schema).checkpoint };
  }

  async apply({ schema, generation, expected, next, writes }: ApplyBatch): Promise<void> {
    const target = this.generation(schema, generation);
    if (target.checkpoint !== expected) throw new CheckpointConflict(schema.name, expected, target.checkpoint);
    for (const write of writes) applyWrite(schema, target.docs, write);
    target.checkpoint = next;
  }

  async checkpoints(schemas: readonly CollectionSchema[]): Promise<readonly (Checkpoint | null)[]> {
    return schemas.map(({ name }) => {
      const collection = this.collections.get(name);
      return collection?.generations.get(collection.active)?.checkpoint ?? null;
    });
  }

  async get<D extends Doc>(schema: CollectionSchema, id: string, generation?: number): Promise<D | undefined> {
    return (await this.getMany<D>(schema, [id], generation))[0];
  }

  async getMany<D extends Doc>(
    schema: CollectionSchema,
    ids: readonly string[],
    generation?: number,
  ): Promise<readonly (D | undefined)[]> {
    const { docs } = this.generation(schema, generation);
    return ids.map((id) => listedForm<D>(schema, docs.get(id)));
  }

  async text(schema: CollectionSchema, id: string, generation?: number): Promise<string | undefined> {
    const doc = this.generation(schema, generation).docs.get(id);
    const text: unknown = doc && schema.beside !== undefined ? fieldOf(doc, schema.beside) : undefined;
    return typeof text === 'string' ? text : undefined;
  }

  async page<D extends Doc>(schema: CollectionSchema, query: PageQuery): Promise<Page<D>> {
    const { where, limit, after, before, sortOf } = query;
    const all = listed(schema, this.generation(schema).docs, where).filter((doc) => isWithin(schema, doc, query));
    /** Number of documents above the cursor, and with it. */
    const placeOf = (cursor: string): readonly [above: number, through: number] => {
      const index = all.findIndex(({ id }) => id === cursor);
      if (index !== -1) return [index, index + 1];
      const sort = sortOf?.(cursor);
      if (sort === undefined) throw new UnknownCursor(cursor);
      const above = all.filter((doc) => {
        const order = compare(textOf(doc, schema.sort), sort);
        return order > 0 || (order === 0 && doc.id > cursor);
      }).length;
      return [above, above];
    };
    const end = before === undefined ? all.length : placeOf(before)[0];
    const start = after !== undefined ? placeOf(after)[1] : before === undefined ? 0 : Math.max(0, end - limit);
    const docs = all.slice(start, Math.max(start, Math.min(end, start + limit)));
    return { docs: docs.flatMap((doc) => listedForm<D>(schema, doc) ?? []), total: all.length };
  }

  async scan<D extends Doc>(schema: CollectionSchema, query: ScanQuery): Promise<Scanned<D>> {
    const { where, after } = query;
    const all = listed(schema, this.generation(schema).docs, where).filter((doc) => {
      if (!isWithin(schema, doc, query)) return false;
      if (after === undefined) return true;
      const order = compare(textOf(doc, schema.sort), after.sort);
      return order < 0 || (order === 0 && doc.id < after.id);
    });
    const rows = all.slice(0, query.examine).map((doc) => ({
      id: doc.id,
      sort: textOf(doc, schema.sort),
      doc: JSON.stringify(listedForm(schema, doc)),
      hasBeside: schema.beside !== undefined && fieldOf(doc, schema.beside) !== undefined,
    }));
    return scanned<D>(rows, query, (id) => this.text(schema, id));
  }

  async beginGeneration(schema: CollectionSchema): Promise<number> {
    await this.register(schema);
    const collection = this.collectionOf(schema);
    const next = Math.max(...collection.generations.keys()) + 1;
    for (const number of collection.generations.keys()) {
      if (number !== collection.active) collection.generations.delete(number);
    }
    collection.generations.set(next, { docs: new Map(), checkpoint: null });
    return next;
  }

  async activateGeneration(schema: CollectionSchema, generation: number): Promise<void> {
    this.generation(schema, generation);
    const collection = this.collectionOf(schema);
    for (const number of [...collection.generations.keys()]) {
      if (number !== generation) collection.generations.delete(number);
    }
    collection.active = generation;
  }

  private collectionOf(schema: CollectionSchema): Collection {
    const collection = this.collections.get(schema.name);
    if (!collection) throw new Error(`collection ${schema.name} is not registered`);
    return collection;
  }

  private generation(schema: CollectionSchema, number?: number): Generation {
    const collection = this.collectionOf(schema);
    const generation = collection.generations.get(number ?? collection.active);
    if (!generation) throw new Error(`collection ${schema.name} has no generation ${String(number)}`);
    return generation;
  }
}

const applyWrite = (schema: CollectionSchema, docs: Map<string, Doc>, write: ReadModelWrite): void => {
  switch (write.op) {
    case 'put':
      for (const field of [...schema.indexed, schema.sort])
        // SQLite refuses it too.
        if (typeof fieldOf(write.doc, field) !== 'string')
          throw new Error(`${schema.name}: document ${write.doc.id} has no ${field}`);
      docs.set(write.doc.id, structuredClone(write.doc));
      return;
    case 'delete':
      docs.delete(write.id);
      return;
    case 'delete_range':
      for (const doc of listed(schema, docs, write.where)) if (isWithin(schema, doc, write)) docs.delete(doc.id);
      return;
    case 'trim':
      for (const doc of beyond(schema, listed(schema, docs, write.where), write)) docs.delete(doc.id);
  }
};

/** Returns the documents that a trim deletes, from the matching ones in list order. */
const beyond = (schema: CollectionSchema, docs: readonly Doc[], trim: { keep?: number; bytes?: number }): Doc[] => {
  const { keep = Number.POSITIVE_INFINITY, bytes = Number.POSITIVE_INFINITY } = trim;
  let total = 0;
  const first = docs.findIndex((doc, index) => {
    if (trim.bytes !== undefined) total += Number(fieldOf(doc, schema.bytes ?? ''));
    return index >= keep || total > bytes;
  });
  return first < 0 ? [] : docs.slice(first);
};

const fieldOf = (doc: Doc, field: string): unknown => Object.entries(doc).find(([name]) => name === field)?.[1];

/** Copies a document without the text that the schema stores beside it. */
const listedForm = <D extends Doc>({ beside }: CollectionSchema, doc: Doc | undefined): D | undefined =>
  doc && (JSON.parse(JSON.stringify(beside === undefined ? doc : { ...doc, [beside]: undefined })) as D);

const isWithin = (schema: CollectionSchema, doc: Doc, { from, to }: { from?: string; to?: string }): boolean => {
  const sort = textOf(doc, schema.sort);
  return (from === undefined || sort >= from) && (to === undefined || sort <= to);
};

/** Returns the matching documents, highest sort first, then highest id. */
const listed = (schema: CollectionSchema, docs: ReadonlyMap<string, Doc>, where: PageWhere): Doc[] =>
  [...docs.values()]
    .filter((doc) => Object.entries(where).every(([field, value]) => [value].flat().includes(textOf(doc, field))))
    .sort((a, b) => compare(textOf(b, schema.sort), textOf(a, schema.sort)) || compare(b.id, a.id));

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const textOf = (doc: Doc, field: string): string => {
  const value = fieldOf(doc, field);
  if (typeof value !== 'string') throw new Error(`field ${field} of ${doc.id} is not text`);
  return value;
};
