/** Port of the records of data stores. They are state of the data plane, not events, and the last write wins. */
import { DomainError } from '#libs/kernel/domain-error.js';

export interface StoreRecord {
  readonly key: string;
  /** JSON text. Empty on a page of keys. */
  readonly value: string;
  /** Epoch milliseconds; null for a record without end. From this time on the record is never seen. */
  readonly expiresAt: number | null;
}

export interface OwnedRecord extends StoreRecord {
  readonly storeId: string;
  readonly workspaceId: string;
}

export interface RecordPage {
  readonly records: readonly StoreRecord[];
  /** Whether further records follow. */
  readonly more: boolean;
}

export interface PageOfRecords {
  /** Key after which the page begins. The key need not exist. */
  readonly after: string;
  readonly limit: number;
  readonly keysOnly: boolean;
}

/**
 * A write is durable when it resolves. Keys are listed in one fixed order, which depends on the engine. Times are epoch
 * milliseconds of the caller's clock. The limits count expired records until they are removed.
 */
export interface DataStoreRecords {
  get(storeId: string, key: string, now: number): Promise<StoreRecord | undefined>;
  /**
   * Replaces value and end of life. A repeat changes nothing more. Throws data_store.full, naming limit and actual
   * value, after removing expired records did not help.
   */
  set(record: OwnedRecord, now: number): Promise<void>;
  /** Changes the end of life only. Resolves with whether the record exists. A repeat changes nothing more. */
  setTtl(storeId: string, key: string, expiresAt: number | null, now: number): Promise<boolean>;
  /** Resolves with whether the record existed. A repeat resolves with false. */
  delete(storeId: string, key: string, now: number): Promise<boolean>;
  /**
   * Adds to a number, atomically also between processes, and resolves with the sum. A missing record counts as 0,
   * and gets `expiresAt` (default: no end); an existing one keeps its end of life. Every call adds, so a repeat adds again. Throws data_store.not_a_number and
   * data_store.full.
   */
  incr(
    owner: Omit<OwnedRecord, 'value' | 'expiresAt'>,
    by: number,
    now: number,
    expiresAt?: number | null,
  ): Promise<number>;
  /** At most `limit` records in the order of the keys, and fewer when they have more than PAGE_BYTES. */
  page(storeId: string, page: PageOfRecords, now: number): Promise<RecordPage>;
  /** Number of records that are not expired. */
  size(storeId: string, now: number): Promise<number>;
  /** Removes all records, in steps: a crash leaves some. Idempotent. */
  clear(storeId: string): Promise<void>;
  /** Removes expired records, at most a bounded number. Resolves with how many; 0 when none is left. */
  expire(now: number): Promise<number>;
  /** Every record of every store for the export, expired ones included. */
  all(): AsyncIterable<OwnedRecord>;
}

/** UTF-8 bytes that a record counts for. */
export const recordSize = (key: string, value: string): number => Buffer.byteLength(key) + Buffer.byteLength(value);

export type FullLimit = 'keys' | 'storeBytes' | 'workspaceBytes';

const WHAT: Readonly<Record<FullLimit, readonly [subject: string, unit: string]>> = {
  keys: ['the data store', 'keys'],
  storeBytes: ['the data store', 'bytes'],
  workspaceBytes: ['all data stores of the workspace together', 'bytes'],
};

/** @param actual what the write would lead to */
export const storeFull = (which: FullLimit, limit: number, actual: number): DomainError => {
  const [subject, unit] = WHAT[which];
  return new DomainError(
    'data_store.full',
    `${subject} would have ${actual} ${unit}, the limit is ${limit}: delete records, or give them a ttl`,
    { limit, actual, what: which },
  );
};

export const notANumber = (key: string, what: string): DomainError =>
  new DomainError('data_store.not_a_number', `incr: ${what}`, { key: key.slice(0, 200) });

/** The sum that `incr` stores. Throws data_store.not_a_number. */
export const sumOf = (key: string, current: string | undefined, by: number): number => {
  const value = current === undefined ? 0 : (JSON.parse(current) as unknown);
  const shown = JSON.stringify(key.slice(0, 200));
  if (typeof value !== 'number') {
    throw notANumber(key, `the value of key ${shown} is no number: set it to a number, or use another key`);
  }
  const sum = value + by;
  if (!Number.isFinite(sum)) throw notANumber(key, `the sum at key ${shown} is too large for a number`);
  return sum;
};
