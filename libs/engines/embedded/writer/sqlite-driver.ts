import { DatabaseSync } from '@photostructure/sqlite';

/** The only file that knows the SQLite driver. `node:sqlite` has the same API and can replace it from Node 22 on. */

export type SqlValue = string | number | null | Uint8Array;

/** One prepared statement. Rows come back as plain objects by column name. */
export interface Statement {
  run(...values: SqlValue[]): unknown;
  get<R>(...values: SqlValue[]): R | undefined;
  all<R>(...values: SqlValue[]): R[];
  iterate<R>(...values: SqlValue[]): IterableIterator<R>;
}

export interface OpenOptions {
  readonly readOnly?: boolean;
  readonly synchronous?: 'FULL' | 'NORMAL';
  /** Page cache in KiB. */
  readonly cacheKib?: number;
  /** Milliseconds to wait for another connection's lock. */
  readonly busyTimeoutMs?: number;
  /** Called with each error that shows that the file is damaged. */
  readonly onMalformed?: (error: unknown) => void;
}

/**
 * Number of pages (4 KB) in a write-ahead log from which a commit copies them into the file itself. The checkpoint
 * thread (checkpoint-thread.ts) keeps a log far smaller, unless it stands still or a reader stays open.
 */
export const MOST_LOG_PAGES = 16_384;
/** The log's file is truncated to this size when it starts anew. */
const KEPT_LOG_BYTES = 16 << 20;

/** Pages in the write-ahead log, and how many of them are in the file too. */
export interface Checkpointed {
  readonly pages: number;
  readonly copied: number;
}

/** Result codes after which a retry makes no sense. */
const FATAL = /SQLITE_(IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN)|disk I\/O error|malformed|not a database/i;
const MALFORMED = /SQLITE_(CORRUPT|NOTADB)|malformed|not a database/i;
const NO_SPACE = /SQLITE_FULL|database or disk is full|ENOSPC/i;
const BUSY = /SQLITE_BUSY|database is locked/i;

/** Read by shape, because an error of another realm (jest) is not an instance of this realm's Error. */
const textOf = (error: unknown): string => {
  if (typeof error !== 'object' || error === null) return String(error);
  return `${'code' in error ? String(error.code) : ''} ${'message' in error ? String(error.message) : ''}`;
};

export const isFatal = (error: unknown): boolean => FATAL.test(textOf(error));
export const isNoSpace = (error: unknown): boolean => NO_SPACE.test(textOf(error));
export const isBusy = (error: unknown): boolean => BUSY.test(textOf(error));

/** A connection with a cache of prepared statements, keyed by their text. */
export class Database {
  private readonly statements = new Map<string, Statement>();
  private readonly db: InstanceType<typeof DatabaseSync>;

  constructor(
    readonly path: string,
    private readonly options: OpenOptions = {},
  ) {
    this.db = new DatabaseSync(path, {
      readOnly: options.readOnly ?? false,
      timeout: options.busyTimeoutMs ?? 5000,
    });
    this.db.exec(`PRAGMA cache_size = -${options.cacheKib ?? 2048}`);
    if (options.synchronous) {
      this.db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${options.synchronous};`);
      this.db.exec(`PRAGMA wal_autocheckpoint = ${MOST_LOG_PAGES}; PRAGMA journal_size_limit = ${KEPT_LOG_BYTES};`);
      this.db.exec('PRAGMA temp_store = MEMORY;');
    }
  }

  exec(sql: string): void {
    this.db.exec(sql);
  }

  /**
   * Copies the write-ahead log into the file, up to the oldest page that a reader needs. Waits for no reader or writer.
   * Undefined while another connection copies.
   */
  checkpoint(): Checkpointed | undefined {
    const row = this.sql('PRAGMA wal_checkpoint(PASSIVE)').get<{ busy: number; log: number; checkpointed: number }>();
    return row && row.log >= 0 ? { pages: row.log, copied: row.checkpointed } : undefined;
  }

  inTransaction(): boolean {
    return this.db.isTransaction;
  }

  /** Prepares a statement once. Texts must be fixed or few, because only `forget` removes them from the cache. */
  sql(text: string): Statement {
    const cached = this.statements.get(text);
    if (cached) return cached;
    const statement = new WholeTexts(this.prepared(text), (error) => this.failed(error));
    this.statements.set(text, statement);
    return statement;
  }

  private prepared(text: string): Statement {
    try {
      return this.db.prepare(text);
    } catch (error) {
      throw this.failed(error);
    }
  }

  private failed(error: unknown): unknown {
    if (MALFORMED.test(textOf(error))) this.options.onMalformed?.(error);
    return error;
  }

  /** Drops the cached statements whose text contains `part`, such as the name of a dropped table. */
  forget(part: string): void {
    for (const text of [...this.statements.keys()]) if (text.includes(part)) this.statements.delete(text);
  }

  close(): void {
    this.statements.clear();
    if (this.db.isOpen) this.db.close();
  }
}

/**
 * The driver cuts a bound text at its first NUL, so "a\0b" would be stored and found as "a". Such a text is therefore
 * bound as its bytes, and `textIn` turns it into a text again when it is read.
 */
class WholeTexts implements Statement {
  constructor(
    private readonly statement: Statement,
    private readonly failed: (error: unknown) => unknown,
  ) {}

  run(...values: SqlValue[]): unknown {
    try {
      return this.statement.run(...whole(values));
    } catch (error) {
      throw this.failed(error);
    }
  }
  get<R>(...values: SqlValue[]): R | undefined {
    try {
      return this.statement.get<R>(...whole(values));
    } catch (error) {
      throw this.failed(error);
    }
  }
  all<R>(...values: SqlValue[]): R[] {
    try {
      return this.statement.all<R>(...whole(values));
    } catch (error) {
      throw this.failed(error);
    }
  }
  *iterate<R>(...values: SqlValue[]): IterableIterator<R> {
    try {
      yield* this.statement.iterate<R>(...whole(values));
    } catch (error) {
      throw this.failed(error);
    }
  }
}

/** Changes the array in place, because it is the caller's arguments. */
const whole = (values: SqlValue[]): SqlValue[] => {
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (typeof value === 'string' && value.includes('\0')) values[i] = Buffer.from(value, 'utf8');
  }
  return values;
};

/** Reads a column that may hold any text. */
export const textIn = (column: string | Uint8Array): string =>
  typeof column === 'string' ? column : Buffer.from(column).toString('utf8');
