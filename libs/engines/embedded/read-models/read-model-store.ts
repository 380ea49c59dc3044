import { pause } from '#libs/async/pause.js';
import {
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
  type Scanned,
  type ScanQuery,
} from '#libs/kernel/read-model-store.js';
import { isStorageFull } from '../writer/refusal.js';
import { type Ops, type ReadWrite } from '../writer/ops.js';
import { isGone, type ScanThread } from './scan-thread.js';
import { tableOf, whereClause, whereValues } from './read-model-tables.js';
import { Totals } from './totals.js';
import { type Database } from '../writer/sqlite-driver.js';
import { nextTurn, ROWS_PER_TURN } from '../yielding.js';
import { type Writer } from '../writer/writer.js';

/** Characters of documents parsed in one turn, about 5 ms. */
const CHARS_PER_TURN = 1 << 20;
/** Pause between write attempts while the disk is full. */
const ROOM_MS = 250;

interface DocRow {
  readonly id: string;
  readonly doc: string;
}

/** ReadModelStore on read.db with one table per collection and generation. */
export class EmbeddedReadModelStore implements ReadModelStore {
  private readonly active = new Map<string, number>();
  private readonly totals = new Totals();

  constructor(
    private readonly writer: Writer,
    private readonly reader: Database,
    private readonly scans: Pick<ScanThread, 'scan'>,
  ) {}

  async register(schema: CollectionSchema): Promise<GenerationState> {
    const active = await this.writer.submit('register', schema);
    this.active.set(schema.name, active);
    this.totals.changed(schema.name);
    const stored = this.reader
      .sql('SELECT checkpoint FROM checkpoints WHERE collection = ? AND generation = ?')
      .get<{ checkpoint: string | null }>(schema.name, active);
    return { active, checkpoint: stored?.checkpoint ?? null };
  }

  async apply({ schema, generation, expected, next, writes }: ApplyBatch): Promise<void> {
    let bytes = 0;
    const flat = writes.map((write) => {
      const each = flatWrite(schema, write);
      bytes += 200;
      if (each.op === 'put') for (const value of each.values) bytes += typeof value === 'string' ? value.length : 8;
      return each;
    });
    this.totals.changed(schema.name);
    try {
      await this.written({ schema, generation, expected, next, writes: flat }, bytes);
    } finally {
      this.totals.changed(schema.name);
    }
  }

  private async written(batch: Ops['apply']['args'], bytes: number): Promise<void> {
    for (;;) {
      try {
        await this.writer.submit('apply', batch, { bytes });
        return;
      } catch (error) {
        // A read model is derived from stored events, so its owner waits for room instead of stopping.
        if (!isStorageFull(error)) throw error;
        await pause(ROOM_MS);
      }
    }
  }

  async checkpoints(schemas: readonly CollectionSchema[]): Promise<readonly (Checkpoint | null)[]> {
    const stored = this.reader.sql(
      `SELECT checkpoint FROM checkpoints JOIN collections ON collection = name AND generation = active WHERE name = ?`,
    );
    return schemas.map(({ name }) => stored.get<{ checkpoint: string | null }>(name)?.checkpoint ?? null);
  }

  async get<D extends Doc>(schema: CollectionSchema, id: string, generation?: number): Promise<D | undefined> {
    const row = this.reader
      .sql(`SELECT doc FROM ${this.table(schema, generation)} WHERE id = ?`)
      .get<{ doc: string }>(id);
    return row && (JSON.parse(row.doc) as D);
  }

  async getMany<D extends Doc>(
    schema: CollectionSchema,
    ids: readonly string[],
    generation?: number,
  ): Promise<readonly (D | undefined)[]> {
    const found = new Map<string, D>();
    const listed = ids.filter(inJson);
    for (const id of ids) {
      const doc = inJson(id) ? undefined : await this.get<D>(schema, id, generation);
      if (doc) found.set(id, doc);
    }
    for (let i = 0; i < listed.length; i += ROWS_PER_TURN) {
      if (i > 0) await nextTurn();
      // Pass the ids as one JSON parameter, so that one statement serves any number of them.
      const rows = this.reader
        .sql(`SELECT id, doc FROM ${this.table(schema, generation)} WHERE id IN (SELECT value FROM json_each(?))`)
        .all<DocRow>(JSON.stringify(listed.slice(i, i + ROWS_PER_TURN)));
      for (const row of rows) found.set(row.id, JSON.parse(row.doc) as D);
    }
    return ids.map((id) => found.get(id));
  }

  async text(schema: CollectionSchema, id: string, generation?: number): Promise<string | undefined> {
    if (schema.beside === undefined) return undefined;
    const row = this.reader
      .sql(`SELECT beside FROM ${this.table(schema, generation)} WHERE id = ?`)
      .get<{ beside: string | null }>(id);
    return row?.beside ?? undefined;
  }

  async page<D extends Doc>(schema: CollectionSchema, query: PageQuery): Promise<Page<D>> {
    const table = this.table(schema);
    const ends = [
      ...(query.from === undefined ? [] : [['AND sort >= ?', query.from] as const]),
      ...(query.to === undefined ? [] : [['AND sort <= ?', query.to] as const]),
    ];
    const where = [whereClause(this.reader, schema, table, query.where), ...ends.map(([clause]) => clause)].join(' ');
    const values = [...whereValues(query.where), ...ends.map(([, end]) => end)];
    const count = (): number => {
      const row = this.reader.sql(`SELECT count(*) AS n FROM ${table} WHERE ${where}`).get<{ n: number }>(...values);
      return row?.n ?? 0;
    };
    const total = query.withTotal === false ? 0 : this.totals.of(schema.name, [table, where, ...values], count);

    const cursorKey = (id: string): [sort: string, id: string] => {
      const row = this.reader
        .sql(`SELECT sort FROM ${table} WHERE ${where} AND id = ?`)
        .get<{ sort: string }>(...values, id);
      const sort = row?.sort ?? query.sortOf?.(id);
      if (sort === undefined) throw new UnknownCursor(id);
      return [sort, id];
    };
    const after = query.after === undefined ? undefined : cursorKey(query.after);
    const before = query.before === undefined ? undefined : cursorKey(query.before);

    // With `before` alone, read upwards from it and reverse the result.
    const order = before && !after ? 'ASC' : 'DESC';
    const rows = this.reader
      .sql(
        `SELECT doc FROM ${table} WHERE ${where}
           ${after ? 'AND (sort, id) < (?, ?)' : ''} ${before ? 'AND (sort, id) > (?, ?)' : ''}
         ORDER BY sort ${order}, id ${order} LIMIT ?`,
      )
      .all<{ doc: string }>(...values, ...(after ?? []), ...(before ?? []), query.limit);
    const docs = await parsed<D>(rows);
    return { docs: order === 'ASC' ? docs.reverse() : docs, total };
  }

  /** On a thread of its own, because it reads and compares megabytes. */
  async scan<D extends Doc>(schema: CollectionSchema, query: ScanQuery): Promise<Scanned<D>> {
    for (;;) {
      const table = this.table(schema);
      try {
        return await this.scans.scan<D>({ schema, table, query });
      } catch (error) {
        // The generation was replaced, and its table was dropped.
        if (!isGone(error) || this.table(schema) === table) throw error;
      }
    }
  }

  async beginGeneration(schema: CollectionSchema): Promise<number> {
    return this.writer.submit('begin', schema);
  }

  async activateGeneration(schema: CollectionSchema, generation: number): Promise<void> {
    await this.writer.submit('activate', { schema, generation });
    const former = this.active.get(schema.name);
    this.active.set(schema.name, generation);
    if (former === undefined || former === generation) return;
    // Queries run to their end in one turn on this thread, so none reads the former table from here on.
    this.reader.forget(tableOf(schema, former));
    await this.writer.submit('prune', schema);
  }

  private table(schema: CollectionSchema, generation?: number): string {
    const wanted = generation ?? this.active.get(schema.name);
    if (wanted === undefined) throw new Error(`collection ${schema.name} is not registered`);
    return tableOf(schema, wanted);
  }
}

/** Whether SQLite reads the text from a JSON parameter unchanged. It does not with a NUL or a lone surrogate. */
const inJson = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** Parses large documents in several turns of the event loop. */
const parsed = async <D extends Doc>(rows: readonly { readonly doc: string }[]): Promise<D[]> => {
  const docs: D[] = [];
  let chars = 0;
  for (const { doc } of rows) {
    if (chars > CHARS_PER_TURN) {
      await nextTurn();
      chars = 0;
    }
    docs.push(JSON.parse(doc) as D);
    chars += doc.length;
  }
  return docs;
};

const flatWrite = (schema: CollectionSchema, write: ReadModelWrite): ReadWrite => {
  switch (write.op) {
    case 'put': {
      const fields = new Map<string, unknown>(Object.entries(write.doc));
      const text = (field: string): string => {
        const value = fields.get(field);
        if (typeof value === 'string') return value;
        throw new Error(
          `document ${write.doc.id} of ${schema.name}: field ${field} must be text, it is ${typeof value}`,
        );
      };
      const { bytes, beside } = schema;
      const values = [
        ...[write.doc.id, text(schema.sort), ...schema.indexed.map(text)],
        ...(bytes === undefined ? [] : [Number(fields.get(bytes) ?? 0)]),
        JSON.stringify(beside === undefined ? write.doc : { ...write.doc, [beside]: undefined }),
      ];
      return {
        op: 'put',
        values: beside === undefined ? values : [...values, fields.has(beside) ? text(beside) : null],
      };
    }
    case 'delete':
      return write;
    case 'delete_range':
      return { op: 'delete_range', where: write.where, from: write.from ?? null, to: write.to ?? null };
    case 'trim':
      return { op: 'trim', where: write.where, keep: write.keep ?? null, bytes: write.bytes ?? null };
  }
};
