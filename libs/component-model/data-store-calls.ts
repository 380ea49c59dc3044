/** Calls of user code to its data stores (docs/reference/component-model.md#data-store-calls). */

/** Limits of data stores (docs/reference/limits.md#data-stores). */
export interface DataStoreLimits {
  /** Length of a key in UTF-16 units. */
  readonly keyLength: number;
  /** UTF-8 bytes of a value as JSON. */
  readonly valueBytes: number;
  readonly keys: number;
  /** UTF-8 bytes of all keys and values of one store, and of all stores of a workspace. */
  readonly storeBytes: number;
  readonly workspaceBytes: number;
}

export const DATA_STORE_LIMITS: DataStoreLimits = {
  keyLength: 1_024,
  valueBytes: 256 * 1024,
  keys: 100_000,
  storeBytes: 64 * 1024 * 1024,
  workspaceBytes: 256 * 1024 * 1024,
};

/** Longest time to live: ten years. */
export const MAX_TTL_SECONDS = 315_360_000;

/** Records and bytes of one page. A page has at least one record, however large. */
export const PAGE_RECORDS = 100;
export const PAGE_KEYS = 1_000;
export const PAGE_BYTES = 256 * 1024;

export const DATA_STORE_OPS = [
  'get',
  'set',
  'setTtl',
  'has',
  'delete',
  'clear',
  'keys',
  'entries',
  'size',
  'incr',
] as const;
export type DataStoreOp = (typeof DATA_STORE_OPS)[number];

/** One call, checked. The values are JSON texts. */
export interface DataStoreCall {
  readonly op: DataStoreOp;
  /** Key of the record. For a page of `keys` or `entries` the key after which it begins, and empty for the first page. */
  readonly key: string;
  /** Seconds to live of `set` and `setTtl`, null for no end; what `incr` adds. */
  readonly number: number | null;
  /** JSON text for `set`, otherwise empty. */
  readonly value: string;
}

/** Data stores as user code reaches them. Implemented by the server, because user code has no connection to it. */
export interface DataStoreAccess {
  /**
   * Resolves with the JSON text of the answer; undefined for no value. `keys` and `entries` answer with
   * `[items, whether more follow]`. A DomainError is the author's fault and is passed on. Not part of a run's commit.
   */
  call(storeId: string, workspaceId: string, call: DataStoreCall): Promise<string | undefined>;
}

/** Fault in a key, or undefined. */
export const storeKeyFault = (key: string): string | undefined => {
  if (key === '') return 'a key may not be empty';
  if (key.includes('\0')) return 'a key may not hold the character NUL';
  if (!key.isWellFormed()) return 'a key may not hold half of a surrogate pair';
  if (key.length > DATA_STORE_LIMITS.keyLength)
    return `a key may have at most ${DATA_STORE_LIMITS.keyLength} characters, this one has ${key.length}`;
  return undefined;
};

/** Fault in a time to live, or undefined. */
export const ttlFault = (seconds: unknown): string | undefined =>
  typeof seconds === 'number' && seconds > 0 && seconds <= MAX_TTL_SECONDS
    ? undefined
    : `a time to live is a number of seconds above 0 and at most ${MAX_TTL_SECONDS} (ten years)`;

/** Fault in the size of a value, or undefined. */
export const storeValueFault = (bytes: number): string | undefined =>
  bytes <= DATA_STORE_LIMITS.valueBytes
    ? undefined
    : `the value has ${bytes} bytes as JSON, the limit is ${DATA_STORE_LIMITS.valueBytes}: split it over several keys`;
