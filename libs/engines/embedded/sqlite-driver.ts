import { DatabaseSync } from '@photostructure/sqlite';

/** The one file that knows the SQLite driver. Its API is that of `node:sqlite`, which can replace it on Node 22 and later. */

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
}

/** Result codes by which the writer tells what is worth another try. */
const FATAL = /SQLITE_(IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN)|disk I\/O error|malformed|not a database/i;
const NO_SPACE = /SQLITE_FULL|database or disk is full|ENOSPC/i;
const BUSY = /SQLITE_BUSY|database is locked/i;

/** By shape: an error of another realm (jest) is no instance of this one's Error. */
const textOf = (error: unknown): string => {
  if (typeof error !== 'object' || error === null) return String(error);
  return `${'code' in error ? String(error.code) : ''} ${'message' in error ? String(error.message) : ''}`;
};

export const isFatal = (error: unknown): boolean => FATAL.test(textOf(error));
export const isNoSpace = (error: unknown): boolean => NO_SPACE.test(textOf(error));
export const isBusy = (error: unknown): boolean => BUSY.test(textOf(error));

/** A connection with a cache of prepared statements by their text. */
export class Database {
  private readonly statements = new Map<string, Statement>();
  private readonly db: InstanceType<typeof DatabaseSync>;

  constructor(
    readonly path: string,
    options: OpenOptions = {},
  ) {
    this.db = new DatabaseSync(path, {
      readOnly: options.readOnly ?? false,
      timeout: options.busyTimeoutMs ?? 5000,
    });
    this.db.exec(`PRAGMA cache_size = -${options.cacheKib ?? 2048}`);
    if (options.synchronous) {
      this.db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${options.synchronous};`);
      this.db.exec('PRAGMA wal_autocheckpoint = 4000; PRAGMA temp_store = MEMORY;');
    }
  }

  exec(sql: string): void {
    this.db.exec(sql);
  }

  inTransaction(): boolean {
    return this.db.isTransaction;
  }

  /** Prepared once. The text must be fixed or come from a small set: nothing leaves the cache but by `forget`. */
  sql(text: string): Statement {
    const cached = this.statements.get(text);
    if (cached) return cached;
    const statement: Statement = this.db.prepare(text);
    this.statements.set(text, statement);
    return statement;
  }

  /** Drops the cached statements whose text contains `part` (a table that is gone). */
  forget(part: string): void {
    for (const text of [...this.statements.keys()]) if (text.includes(part)) this.statements.delete(text);
  }

  close(): void {
    this.statements.clear();
    if (this.db.isOpen) this.db.close();
  }
}
