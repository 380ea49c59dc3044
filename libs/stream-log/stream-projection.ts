import { type CollectionSchema, type Doc, type ReadModelWrite, type Where } from '#libs/kernel/read-model-store.js';
import { type StoredRecord } from './stream-log.js';

export interface GroupBound {
  readonly by: string;
  readonly newest?: number;
  /** Limit on bytes. Needs a schema that names the field with the size. */
  readonly bytes?: number;
}

/**
 * Effect of a record on the read model. Document ids derive from the record, so a repeat replaces its own documents.
 */
export type StreamChange<D extends Doc> =
  | { readonly kind: 'put'; readonly docs: readonly D[] }
  /** Removes every matching document whose sort field is within [from, to]. An absent end is open. */
  | { readonly kind: 'remove'; readonly where: Where; readonly from?: string; readonly to?: string };

/** A read model over the stream log, pure. `name` is `{context}.{name}.v{n}`; a new version is a new name. */
export interface StreamProjection<D extends Doc = Doc> {
  readonly name: string;
  /** Prefix of the topics that it reads. */
  readonly prefix: string;
  readonly schema: CollectionSchema;
  /** Keeps the newest documents, by the schema's sort, of each value of one indexed field. */
  readonly keep: { readonly by: string; readonly newest: number };
  /** Limits on documents or bytes of wider groups, one for each value of an indexed field. The oldest are removed. */
  readonly bounds?: readonly GroupBound[];
  /** Returns undefined for a record that does not concern it. */
  interpret(record: StoredRecord): StreamChange<D> | undefined;
  /**
   * Returns the value of `keep.by` of the record's documents, if each of them only adds to that list. Returns undefined
   * for a record that may remove documents. Without it the documents of every record are made.
   */
  readonly listOf?: (record: StoredRecord) => string | undefined;
  /** Selects the documents of records with this key, for a deleted source or webhook. */
  ofKey(key: string): readonly Where[];
}

/** Thrown for a record that the projection cannot apply. The projector stops at it and reports it. */
export class PoisonRecord extends Error {
  constructor(projection: string, { lane, offset }: StoredRecord, cause: unknown) {
    super(`projection ${projection} cannot apply the record at offset ${offset} of ${lane}: ${String(cause)}`, {
      cause,
    });
    this.name = 'PoisonRecord';
  }
}

/** Documents, and share of the limit, by which a group may exceed its limit, because a trim costs more than a put. */
const SLACK = 25;
const SLACK_SHARE = 0.1;
const MAX_COUNTED = 50_000;

interface Held {
  readonly docs: number;
  readonly bytes: number;
}

/** Tracks an upper bound on the size of each group, so that most batches need no trim. */
class BoundSizes {
  private readonly atMost = new Map<string, Held>();
  private readonly limit: Held;

  constructor(readonly bound: GroupBound) {
    this.limit = { docs: bound.newest ?? Number.POSITIVE_INFINITY, bytes: bound.bytes ?? Number.POSITIVE_INFINITY };
  }

  /** Returns true when the group must be trimmed now. A group whose size is unknown, after a start, is trimmed once. */
  add(group: string, docs: number, bytes: number): boolean {
    const { limit } = this;
    const known = this.atMost.get(group);
    const held = known && { docs: known.docs + docs, bytes: known.bytes + bytes };
    const fits =
      held !== undefined &&
      held.docs <= limit.docs + Math.max(SLACK, limit.docs * SLACK_SHARE) &&
      held.bytes <= limit.bytes * (1 + SLACK_SHARE);
    if (!fits && this.atMost.size >= MAX_COUNTED) this.atMost.clear();
    this.atMost.set(group, fits ? held : limit);
    return !fits;
  }
}

/** Sizes of a projection's groups, for `keep` and for each of its `bounds`. */
export class GroupSizes {
  private readonly bounds: readonly BoundSizes[];

  constructor(private readonly projection: Pick<StreamProjection, 'keep' | 'bounds' | 'schema'>) {
    this.bounds = [projection.keep, ...(projection.bounds ?? [])].map((bound) => new BoundSizes(bound));
  }

  /** Returns the trims that fall due with these documents. */
  add(docs: readonly Doc[]): ReadModelWrite[] {
    return this.bounds.flatMap((sizes) => this.trims(sizes, docs));
  }

  private trims(sizes: BoundSizes, docs: readonly Doc[]): ReadModelWrite[] {
    const { by, newest, bytes } = sizes.bound;
    const field = bytes === undefined ? undefined : this.projection.schema.bytes;
    const added = new Map<string, Held>();
    for (const doc of docs) {
      const group = fieldOf(doc, by);
      const before = added.get(group) ?? { docs: 0, bytes: 0 };
      const size = field === undefined ? 0 : numberOf(doc, field);
      added.set(group, { docs: before.docs + 1, bytes: before.bytes + size });
    }
    const trim = { ...(newest === undefined ? {} : { keep: newest }), ...(bytes === undefined ? {} : { bytes }) };
    return [...added].flatMap(([group, more]): ReadModelWrite[] =>
      sizes.add(group, more.docs, more.bytes) ? [{ op: 'trim', where: { [by]: group }, ...trim }] : [],
    );
  }
}

export interface Folded {
  readonly writes: readonly ReadModelWrite[];
  /** Number of documents in the records, including those that are not kept. */
  readonly documents: number;
}

/**
 * Folds records into writes: removals first, then the newest `keep` documents of each group, then trims. A removal also
 * drops earlier documents of these records.
 */
export const foldRecords = <D extends Doc>(
  projection: StreamProjection<D>,
  records: Iterable<StoredRecord>,
  sizes: GroupSizes,
): Folded => {
  const writes: ReadModelWrite[] = [];
  let documents = 0;
  const groups = new Map<string, Map<string, D>>();
  for (const record of records) {
    const change = interpreted(projection, record);
    if (!change) continue;
    if (change.kind === 'put') {
      documents += change.docs.length;
      for (const doc of change.docs) {
        const group = fieldOf(doc, projection.keep.by);
        const docs = groups.get(group);
        if (docs) docs.set(doc.id, doc);
        else groups.set(group, new Map([[doc.id, doc]]));
      }
    } else {
      removeFrom(groups, change, projection.schema.sort);
      const { where, from, to } = change;
      writes.push({
        op: 'delete_range',
        where,
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
      });
    }
  }
  const written: D[] = [];
  for (const docs of groups.values())
    written.push(...newestOf([...docs.values()], projection.schema.sort, projection.keep.newest));
  for (const doc of written) writes.push({ op: 'put', doc });
  return { writes: [...writes, ...sizes.add(written)], documents };
};

const interpreted = <D extends Doc>(
  projection: StreamProjection<D>,
  record: StoredRecord,
): StreamChange<D> | undefined => {
  try {
    return projection.interpret(record);
  } catch (error) {
    throw new PoisonRecord(projection.name, record, error);
  }
};

const newestOf = <D extends Doc>(docs: D[], sort: string, count: number): D[] => {
  if (docs.length <= count) return docs;
  const key = (doc: D): string => fieldOf(doc, sort);
  // They are nearly always sorted already, so the sort is cheap.
  return docs.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0)).slice(-count);
};

const removeFrom = <D extends Doc>(
  groups: ReadonlyMap<string, Map<string, D>>,
  { where, from, to }: { readonly where: Where; readonly from?: string; readonly to?: string },
  sort: string,
): void => {
  for (const docs of groups.values()) {
    for (const doc of docs.values()) {
      const at = fieldOf(doc, sort);
      const inRange = (from === undefined || at >= from) && (to === undefined || at <= to);
      if (inRange && Object.entries(where).every(([field, value]) => fieldOf(doc, field) === value))
        docs.delete(doc.id);
    }
  }
};

const fieldOf = (doc: Doc, field: string): string => {
  const value = (doc as Doc & Readonly<Record<string, unknown>>)[field];
  if (typeof value !== 'string') throw new Error(`field ${field} of document ${doc.id} is not text`);
  return value;
};

const numberOf = (doc: Doc, field: string): number => {
  const value = (doc as Doc & Readonly<Record<string, unknown>>)[field];
  if (typeof value !== 'number') throw new Error(`field ${field} of document ${doc.id} is not a number`);
  return value;
};
