/** A document of a read model. `id` is unique in its collection. Plain JSON. */
export interface Doc {
  readonly id: string;
}

/**
 * One collection, owned by one projection.
 * `indexed` names the top-level string fields for look-ups by equality and for counts.
 * `sort` names the top-level string field that gives the list order. It is fixed-width text, and the id breaks ties.
 */
export interface CollectionSchema {
  readonly name: string;
  readonly indexed: readonly string[];
  readonly sort: string;
  /** Top-level number field that `trim` adds up to limit bytes. A document without it counts 0. */
  readonly bytes?: string;
  /**
   * Top-level text field that is stored beside the document. `get`, `getMany` and `page` leave it out, and only `text`
   * reads it. For texts too large to be read with every document of a list.
   */
  readonly beside?: string;
  /**
   * Lists whose totals are stored, each as the fields of its `where`, so that no page counts documents. Documents of
   * such a collection are deleted by their ids only. May change without a new name.
   */
  readonly counted?: readonly (readonly string[])[];
}

/** Resume point of a projection: a Position, or offsets as text. Compared as text. */
export type Checkpoint = string;

export type Where = Readonly<Record<string, string>>;
/** Like `Where`, but a list of texts matches each of them. An empty list matches nothing. */
export type PageWhere = Readonly<Record<string, string | readonly string[]>>;

export type DocumentWrite =
  | { readonly op: 'put'; readonly doc: Doc }
  | { readonly op: 'delete'; readonly id: string }
  /** Deletes every matching document whose sort field is within [from, to]. An absent end is open. */
  | { readonly op: 'delete_range'; readonly where: Where; readonly from?: string; readonly to?: string };

/**
 * Keeps the matching documents of highest sort, at most `keep` of them and `bytes` in total. Deletes the others.
 * `bytes` needs a schema that names the field to add up.
 */
export interface Trim {
  readonly op: 'trim';
  readonly where: Where;
  readonly keep?: number;
  readonly bytes?: number;
}

export type ReadModelWrite = DocumentWrite | Trim;

export interface ApplyBatch {
  readonly schema: CollectionSchema;
  readonly generation: number;
  /** Checkpoint that the caller expects in the store; null for none yet. */
  readonly expected: Checkpoint | null;
  /** Null when the writes themselves record the progress of the projection. */
  readonly next: Checkpoint | null;
  /** Applied in order. */
  readonly writes: readonly ReadModelWrite[];
}

/** Thrown when the checkpoint is not the caller's last, so the projection has two owners. The caller must stop. */
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
  readonly where: PageWhere;
  /** Only documents whose sort field is within [from, to], in the page and in its total. An absent end is open. */
  readonly from?: string;
  readonly to?: string;
  readonly limit: number;
  /** False when the caller needs no total, which is 0 then. Default true. */
  readonly withTotal?: boolean;
  /**
   * Ids of documents. The page holds the documents after `after` and before `before` in list order (highest sort
   * first). With only `before` it holds the `limit` documents right before it, still in list order.
   */
  readonly after?: string;
  readonly before?: string;
  /**
   * Derives the sort of a document from its id, so that a page can begin at the place of a deleted document. Default:
   * none.
   */
  readonly sortOf?: (id: string) => string | undefined;
}

/** Selects documents by their top-level text fields. A document lacks what a field that it does not have asks for. */
export interface DocMatch {
  /** Each field has this text. */
  readonly equals?: Readonly<Record<string, string>>;
  /** No field has one of these texts. */
  readonly none?: Readonly<Record<string, readonly string[]>>;
  /** One of the fields contains `part`, or the start of the text beside the document does, in any case. */
  readonly contains?: { readonly part: string; readonly fields: readonly string[] };
}

/** A place in list order, which need not be that of a document. */
export interface ScanPlace {
  readonly sort: string;
  readonly id: string;
}

/** Examines documents in list order, without holding the store for long. */
export interface ScanQuery {
  readonly where: Where;
  /** As in PageQuery. */
  readonly from?: string;
  readonly to?: string;
  /** The scan begins behind this place. */
  readonly after?: ScanPlace;
  readonly match: DocMatch;
  /** Documents to find. */
  readonly limit: number;
  /** Documents to examine at most. */
  readonly examine: number;
  /** Characters of documents and texts after which the scan ends. */
  readonly chars: number;
}

export interface Scanned<D extends Doc> {
  readonly docs: readonly D[];
  readonly examined: number;
  readonly chars: number;
  /** Place of the last document that was examined. Null when the list ends there. */
  readonly next: ScanPlace | null;
}

export interface Page<D extends Doc> {
  readonly docs: readonly D[];
  /** Number of documents that match `where` and lie within [from, to], regardless of the page. See `withTotal`. */
  readonly total: number;
}

/** Thrown when `after` or `before` names no matching document, and `sortOf` does not know its place. */
export class UnknownCursor extends Error {
  constructor(readonly cursor: string) {
    super(`cursor ${cursor} is unknown in this list`);
    this.name = 'UnknownCursor';
  }
}

export interface GenerationState {
  /** Generation that queries read. */
  readonly active: number;
  /** Checkpoint of the active generation; null when no batch was applied. */
  readonly checkpoint: Checkpoint | null;
}

export interface ReadModelStore {
  /** Creates the collection. Idempotent. The first generation is 1. */
  register(schema: CollectionSchema): Promise<GenerationState>;

  /**
   * Applies writes and checkpoint. After a crash both are visible or neither is. (An engine without transactions guards
   * each document, so that a replay of the batch is harmless.)
   * Rejects with CheckpointConflict, having changed nothing, when `expected` is not the stored checkpoint.
   */
  apply(batch: ApplyBatch): Promise<void>;

  /** Returns the active generations' checkpoints, in the order of `schemas`; null for none. For readers that wait. */
  checkpoints(schemas: readonly CollectionSchema[]): Promise<readonly (Checkpoint | null)[]>;

  /** Returns one document, of the active generation by default. */
  get<D extends Doc>(schema: CollectionSchema, id: string, generation?: number): Promise<D | undefined>;
  /** Returns documents in the order of `ids`; undefined for a missing one. */
  getMany<D extends Doc>(
    schema: CollectionSchema,
    ids: readonly string[],
    generation?: number,
  ): Promise<readonly (D | undefined)[]>;
  /** Returns the text stored beside the document; undefined without the document or the text. */
  text(schema: CollectionSchema, id: string, generation?: number): Promise<string | undefined>;
  /** Returns a page in list order: highest sort first, then highest id. May reject with UnknownCursor. */
  page<D extends Doc>(schema: CollectionSchema, query: PageQuery): Promise<Page<D>>;

  /**
   * Examines some of the documents, and at least one. The caller goes on from `next`. An engine that shares its thread
   * with others may examine fewer than it may.
   */
  scan<D extends Doc>(schema: CollectionSchema, query: ScanQuery): Promise<Scanned<D>>;

  /** Creates an empty generation beside the active one, to fill from zero. Drops an unfinished one. */
  beginGeneration(schema: CollectionSchema): Promise<number>;
  /** Switches queries to `generation` atomically and drops the former one. */
  activateGeneration(schema: CollectionSchema, generation: number): Promise<void>;
}
