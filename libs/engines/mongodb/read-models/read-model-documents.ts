import { type AnyBulkWriteOperation, type Filter, type UpdateFilter } from 'mongodb';
import { type CollectionSchema, type Doc, type Where } from '#libs/kernel/read-model-store.js';
import { type Index } from '../ensure-indexes.js';

/**
 * How a document of a read model lies in MongoDB. The document itself is JSON text: names of its fields may hold what
 * BSON does not take (`$.service.db`), and nothing but `f_…` and `sort` is ever looked up.
 * A tombstone has `died` in place of `sort`, `doc` and the fields: no list finds it, and it still guards its id.
 */
export interface StoredDoc {
  readonly _id: string;
  /** Number of the batch that wrote it last. Only a batch of at least that number may write it again. */
  readonly at: number;
  /** Number of the batch that inserted it. */
  readonly born?: number;
  readonly sort?: string;
  readonly doc?: string;
  /** What the document counts in a trim by bytes. */
  readonly bytes?: number;
  /** The text that the schema keeps beside the document. */
  readonly beside?: string;
  /** Epoch ms. */
  readonly died?: number;
  readonly [field: `f_${string}`]: string;
}

export interface Key {
  readonly sort: string;
  readonly id: string;
}

type Operation = AnyBulkWriteOperation<StoredDoc>;

export const collectionName = (name: string, generation: number): string => `read.${name}.${generation}`;
/** Any generation of one read model. */
export const generationPattern = (name: string): RegExp =>
  new RegExp(`^read\\.${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\.(\\d+)$`);

const fieldName = (field: string): `f_${string}` => `f_${field}`;

/** One for each field that lists are looked up by, in list order; one for the list of everything. */
export const indexesOf = (schema: CollectionSchema): readonly Index[] => [
  { name: 'list', key: { sort: -1, _id: -1 } },
  ...schema.indexed.map((field) => ({ name: `by_${field}`, key: { [fieldName(field)]: 1, sort: -1, _id: -1 } })),
  { name: 'tombstones', key: { died: 1 }, sparse: true },
];

/** Documents that live and match. Throws for a field that the schema does not index. */
export const matching = (schema: CollectionSchema, where: Where): Filter<StoredDoc> => {
  const filter: Record<string, string> = {};
  for (const [field, value] of Object.entries(where)) {
    if (!schema.indexed.includes(field)) {
      const known = schema.indexed.join(', ') || 'nothing';
      throw new Error(`collection ${schema.name} is not indexed by ${field}: only by ${known}`);
    }
    filter[fieldName(field)] = value;
  }
  return filter;
};

export interface Span {
  readonly from?: string;
  readonly to?: string;
}

/** Any text, when no end is given: tombstones have no `sort`. */
export const within = ({ from, to }: Span): Filter<StoredDoc> => ({
  sort: { $gte: from ?? '', ...(to === undefined ? {} : { $lte: to }) },
});

/**
 * What follows `after` and precedes `before`, highest first. Bounds on `sort` alone come first, so that one run over
 * the index gives it in order: an `$or` of both fields at the top would be several runs, merged.
 */
export const between = (after: Key | undefined, before: Key | undefined): Filter<StoredDoc> => {
  const bounds = within({ ...(before ? { from: before.sort } : {}), ...(after ? { to: after.sort } : {}) });
  const ties: Filter<StoredDoc>[] = [];
  if (after) ties.push({ $or: [{ sort: { $lt: after.sort } }, { _id: { $lt: after.id } }] });
  if (before) ties.push({ $or: [{ sort: { $gt: before.sort } }, { _id: { $gt: before.id } }] });
  return ties.length === 0 ? bounds : { ...bounds, $and: ties };
};

/**
 * Writes of one batch. Where the stored document is of a later batch, the filter does not match, the upsert tries to
 * insert, and the id being taken comes back as E11000: whoever sees it has been overtaken.
 */
export class BatchOperations {
  constructor(
    private readonly schema: CollectionSchema,
    private readonly batch: number,
    private readonly now: number,
  ) {}

  put(doc: Doc): Operation {
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
      updateOne: {
        filter: { _id: doc.id, at: { $lte: at } },
        update: {
          $set: { at, ...indexed, sort: text(schema.sort), doc: json, ...counted, ...large },
          $unset: 'beside' in large ? { died: '' } : { died: '', beside: '' },
          $setOnInsert: { born: at },
        },
        upsert: true,
      },
    };
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
   * Without tombstones, which would be as many as the documents that ever were: what comes back here goes again at
   * the next trim.
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
