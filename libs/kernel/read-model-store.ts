/** A document of a read model. `id` is unique in its collection. Plain JSON. */
export interface Doc {
  readonly id: string;
}

/**
 * One collection, owned by one projection.
 * `indexed` names the top-level string fields by which it is looked up (equality) or counted.
 * `sort` names the top-level string field that gives the list order; ties are broken by id. Fixed-width text.
 */
export interface CollectionSchema {
  readonly name: string;
  readonly indexed: readonly string[];
  readonly sort: string;
  /** Top-level number field that `trim` adds up when it keeps a number of bytes; 0 where a document has none. */
  readonly bytes?: string;
  /**
   * Top-level text field that is stored beside the document: `get`, `getMany` and `page` leave it out, and only `text`
   * reads it. For texts too large to be read with every document of a list.
   */
  readonly beside?: string;
  /** Former versions of this collection. `register` removes them. */
  readonly replaces?: readonly string[];
}

/** Resume point of a projection: a Position, or offsets as text. Compared as text. */
export type Checkpoint = string;

export type Where = Readonly<Record<string, string>>;

export type ReadModelWrite =
  | { readonly op: 'put'; readonly doc: Doc }
  | { readonly op: 'delete'; readonly id: string }
  /** Every document that matches and whose sort field is within [from, to]; an absent end is open. */
  | { readonly op: 'delete_range'; readonly where: Where; readonly from?: string; readonly to?: string }
  /**
   * Keeps of the documents that match those of highest sort, at most `keep` of them and `bytes` in all; deletes the
   * others. `bytes` needs a schema that names the field to add up.
   */
  | { readonly op: 'trim'; readonly where: Where; readonly keep?: number; readonly bytes?: number };

export interface ApplyBatch {
  readonly schema: CollectionSchema;
  readonly generation: number;
  /** Checkpoint that the caller believes stored; null for none yet. */
  readonly expected: Checkpoint | null;
  readonly next: Checkpoint;
  /** Applied in order. */
  readonly writes: readonly ReadModelWrite[];
}

/** Two owners of one projection: the checkpoint is not the one that the caller wrote last. It must stop. */
export class CheckpointConflict extends Error {
  constructor(
    readonly collection: string,
    readonly expected: Checkpoint | null,
    readonly actual: Checkpoint | null,
  ) {
    super(
      `checkpoint of ${collection} is ${actual ?? 'unset'}, expected ${expected ?? 'unset'}: another projector owns it`,
    );
    this.name = 'CheckpointConflict';
  }
}

export interface PageQuery {
  readonly where: Where;
  readonly limit: number;
  /**
   * Ids of documents; the page holds what follows `after` and precedes `before` in list order (highest sort first).
   * With only `before`: the `limit` documents right before it, still in list order.
   */
  readonly after?: string;
  readonly before?: string;
}

export interface Page<D extends Doc> {
  readonly docs: readonly D[];
  /** All that match `where`, regardless of the page. */
  readonly total: number;
}

/** `after` or `before` names no document that matches. */
export class UnknownCursor extends Error {
  constructor(readonly cursor: string) {
    super(`cursor ${cursor} is unknown in this list`);
    this.name = 'UnknownCursor';
  }
}

export interface GenerationState {
  /** The one that queries read. */
  readonly active: number;
  /** Of the active generation; null when nothing was applied. */
  readonly checkpoint: Checkpoint | null;
}

export interface ReadModelStore {
  /** Creates what the collection needs. Idempotent. The first generation is 1. */
  register(schema: CollectionSchema): Promise<GenerationState>;

  /**
   * Resolves when writes and checkpoint are applied, both or neither visible after a crash (an engine without
   * transactions guards each document, so that a replay of the batch is harmless).
   * Rejects with CheckpointConflict, having changed nothing, when `expected` is not what is stored.
   */
  apply(batch: ApplyBatch): Promise<void>;

  /** Checkpoints of the active generations, in the order asked; null where nothing was applied. For readers that wait. */
  checkpoints(schemas: readonly CollectionSchema[]): Promise<readonly (Checkpoint | null)[]>;

  /** Reads the active generation unless told otherwise. */
  get<D extends Doc>(schema: CollectionSchema, id: string, generation?: number): Promise<D | undefined>;
  /** Same order as `ids`; undefined where there is none. */
  getMany<D extends Doc>(
    schema: CollectionSchema,
    ids: readonly string[],
    generation?: number,
  ): Promise<readonly (D | undefined)[]>;
  /** The text that the schema keeps beside the document; undefined when there is no such document, or none beside it. */
  text(schema: CollectionSchema, id: string, generation?: number): Promise<string | undefined>;
  /** List order: highest sort first, then highest id. Rejects with UnknownCursor. */
  page<D extends Doc>(schema: CollectionSchema, query: PageQuery): Promise<Page<D>>;

  /** An empty generation beside the active one, to fill from zero; drops an unfinished one. */
  beginGeneration(schema: CollectionSchema): Promise<number>;
  /** Queries read `generation` from now on, atomically; the former one is dropped. */
  activateGeneration(schema: CollectionSchema, generation: number): Promise<void>;
}
