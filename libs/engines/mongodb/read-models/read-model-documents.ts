import { type AnyBulkWriteOperation, type Filter, type UpdateFilter } from 'mongodb';
import { type CollectionSchema, type Doc, type PageWhere, type Where } from '#libs/kernel/read-model-store.js';
import { type Index } from '../ensure-indexes.js';

/**
 * A read model's document in MongoDB. The document itself is JSON text, because its field names may be ones that BSON
 * refuses (`$.service.db`). Lookups use only `f_…` and `sort`.
 * A tombstone has `died` instead of `sort`, `doc` and the fields. No list finds it, and it still guards its id.
 */
export interface StoredDoc {
  readonly _id: string;
  /** Number of the batch that wrote it last. Only a batch of at least that number may write it again. */
  readonly at: number;
  /** Number of the batch that inserted it. */
  readonly born?: number;
  readonly sort?: string;
  readonly doc?: string;
  /** Size that a trim by bytes counts for the document. */
  readonly bytes?: number;
  /** Total of a list, in a document of its own with the number of the batch that wrote it (list-totals.ts). */
  readonly total?: number;
  readonly of?: number;
  /** Text that the schema keeps next to the document. */
  readonly beside?: string;
  /** Time of deletion in epoch milliseconds. */
  readonly died?: number;
  readonly [field: `f_${string}`]: string;
}

export interface Key {
  readonly sort: string;
  readonly id: string;
}

type Operation = AnyBulkWriteOperation<StoredDoc>;

export const collectionName = (name: string, generation: number): string => `read.${name}.${generation}`;
/** Matches any generation of one read model. */
export const generationPattern = (name: string): RegExp =>
  new RegExp(`^read\\.${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\.(\\d+)$`);

export const fieldName = (field: string): `f_${string}` => `f_${field}`;

/** One index per indexed field in list order, and one for the list of all documents. */
export const indexesOf = (schema: CollectionSchema): readonly Index[] => [
  { name: 'list', key: { sort: -1, _id: -1 } },
  ...schema.indexed.map((field) => ({ name: `by_${field}`, key: { [fieldName(field)]: 1, sort: -1, _id: -1 } })),
  { name: 'tombstones', key: { died: 1 }, sparse: true },
];

/** Matches live documents. Throws for a field that the schema does not index. */
export const matching = (schema: CollectionSchema, where: PageWhere): Filter<StoredDoc> => {
  const filter: Record<string, string | { readonly $in: readonly string[] }> = {};
  for (const [field, value] of Object.entries(where)) {
    if (!schema.indexed.includes(field)) {
      const known = schema.indexed.join(', ') || 'nothing';
      throw new Error(`collection ${schema.name} is not indexed by ${field}: only by ${known}`);
    }
    filter[fieldName(field)] = typeof value === 'string' ? value : { $in: value };
  }
  return filter;
};

export interface Span {
  readonly from?: string;
  readonly to?: string;
}

/** Matches any text when no end is given. Tombstones have no `sort`. */
export const within = ({ from, to }: Span): Filter<StoredDoc> => ({
  sort: { $gte: from ?? '', ...(to === undefined ? {} : { $lte: to }) },
});

/**
 * Matches documents after `after` and before `before`, highest first. The bounds on `sort` alone come first, so that
 * one index scan returns them in order. An `$or` of both fields at the top would merge several scans.
 */
export const between = (after: Key | undefined, before: Key | undefined): Filter<StoredDoc> => {
  const bounds = within({ ...(before ? { from: before.sort } : {}), ...(after ? { to: after.sort } : {}) });
  const ties: Filter<StoredDoc>[] = [];
  if (after) ties.push({ $or: [{ sort: { $lt: after.sort } }, { _id: { $lt: after.id } }] });
  if (before) ties.push({ $or: [{ sort: { $gt: before.sort } }, { _id: { $gt: before.id } }] });
  return ties.length === 0 ? bounds : { ...bounds, $and: ties };
};

/**
 * Writes of one batch. When the stored document is of a later batch, the filter does not match and the upsert tries an
 * insert. The existing id then causes E11000, which shows the writer that it has been overtaken.
 */
export class BatchOperations {
  constructor(
    private readonly schema: CollectionSchema,
    private readonly batch: number,
    private readonly now: number,
  ) {}

  put(doc: Doc): Operation {
    const { batch: at } = this;
    const update = { ...this.contents(doc), $setOnInsert: { born: at } };
    return { updateOne: { filter: { _id: doc.id, at: { $lte: at } }, update, upsert: true } };
  }

  private contents(doc: Doc): UpdateFilter<StoredDoc> {
    const { schema, batch: at } = this;
    const fields = new Map<string, unknown>(Object.entries(doc));
    const text = (field: string): string => {
      const value = fields.get(field);
      if (typeof value === 'string') return value;
      throw new Error(`document ${doc.id} of ${schema.name}: field ${field} must be text, it is ${typeof value}`);
    };
    const indexed = Object.fromEntries(schema.indexed.map((field) => [fieldName(field), text(field)]));
    const { bytes, beside } = schema;
    const counted = bytes === undefined ? {} : { bytes: Number(fields.get(bytes) ?? 0) };
    const large = beside === undefined || !fields.has(beside) ? {} : { beside: text(beside) };
    const json = JSON.stringify(beside === undefined ? doc : { ...doc, [beside]: undefined });
    return {
      $set: { at, ...indexed, sort: text(schema.sort), doc: json, ...counted, ...large },
      $unset: 'beside' in large ? { died: '' } : { died: '', beside: '' },
    };
  }

  private heldLane(id: string): Filter<StoredDoc> {
    return { _id: id, at: this.batch };
  }

  /** Sets the progress of a lane of this claim. Matches nothing when the lane has another claim. */
  progress(doc: Doc): Operation {
    return { updateOne: { filter: this.heldLane(doc.id), update: this.contents(doc) } };
  }

  keepLane(id: string): Operation {
    return { updateOne: { filter: this.heldLane(id), update: { $set: { at: this.batch } } } };
  }

  removeLane(id: string): Operation {
    return { updateOne: { filter: this.heldLane(id), update: this.burial() } };
  }

  delete(id: string): Operation {
    const filter = { _id: id, at: { $lte: this.batch } };
    return { updateOne: { filter, update: this.burial(), upsert: true } };
  }

  deleteRange(where: Where, span: Span): Operation {
    const filter = { ...matching(this.schema, where), ...within(span), at: { $lte: this.batch } };
    return { updateMany: { filter, update: this.burial() } };
  }

  /**
   * Deletes without tombstones, which would be as many as the documents that ever existed. A document that reappears is
   * deleted by the next trim.
   */
  trim(where: Where, highest: Key): Operation {
    const { sort, id } = highest;
    const filter: Filter<StoredDoc> = {
      ...matching(this.schema, where),
      ...within({ to: sort }),
      $or: [{ sort: { $lt: sort } }, { _id: { $lte: id } }],
      at: { $lte: this.batch },
    };
    return { deleteMany: { filter } };
  }

  private burial(): UpdateFilter<StoredDoc> {
    const gone = Object.fromEntries(
      [...this.schema.indexed.map(fieldName), 'sort', 'doc', 'bytes', 'beside'].map((field) => [field, '']),
    );
    return { $set: { at: this.batch, died: this.now }, $unset: gone } as UpdateFilter<StoredDoc>;
  }
}
