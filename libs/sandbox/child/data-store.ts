import { storeKeyFault, storeValueFault, ttlFault } from '#libs/component-model/data-store-calls.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { MAX_NESTING, nestsTooDeep } from '#libs/framing/json-text.js';
import { type Execution } from './execution.js';
import { type StoreLink } from './store-link.js';

type Page<T> = readonly [items: readonly T[], more: boolean];

/** `this.<prop>` of a prop of type data_store (docs/reference/component-model.md#data-store-calls). */
export class DataStore {
  readonly #id: string;
  readonly #execution: Execution;
  readonly #stores: StoreLink | undefined;

  constructor(id: string, execution: Execution, stores: StoreLink | undefined) {
    this.#id = id;
    this.#execution = execution;
    this.#stores = stores;
  }

  async get(key: unknown): Promise<unknown> {
    return parsed(await this.#call({ op: 'get', key: keyOf('get', key) }));
  }

  async set(key: unknown, value: unknown, options?: { readonly ttl?: unknown } | null): Promise<void> {
    const name = keyOf('set', key);
    const ttl = ttlOf('set', options?.ttl);
    await this.#call({ op: 'set', key: name, number: ttl, value: textOf(name, value) });
  }

  /** Resolves with whether the record exists. */
  async setTtl(key: unknown, seconds: unknown): Promise<boolean> {
    if (seconds === undefined) throw new TypeError('setTtl: seconds are missing: give a number, or null for no end');
    const call = { op: 'setTtl', key: keyOf('setTtl', key), number: ttlOf('setTtl', seconds) } as const;
    return (await this.#call(call)) === 'true';
  }

  async has(key: unknown): Promise<boolean> {
    return (await this.#call({ op: 'has', key: keyOf('has', key) })) === 'true';
  }

  /** Resolves with whether the record existed. */
  async delete(key: unknown): Promise<boolean> {
    return (await this.#call({ op: 'delete', key: keyOf('delete', key) })) === 'true';
  }

  async clear(): Promise<void> {
    await this.#call({ op: 'clear' });
  }

  async keys(): Promise<string[]> {
    const keys: string[] = [];
    for await (const key of this.#pages<string>('keys', (item) => item)) keys.push(key);
    return keys;
  }

  async entries(): Promise<[string, unknown][]> {
    const entries: [string, unknown][] = [];
    for await (const entry of this) entries.push(entry);
    return entries;
  }

  async size(): Promise<number> {
    return Number(await this.#call({ op: 'size' }));
  }

  /** Adds atomically and resolves with the sum. */
  async incr(key: unknown, by: unknown = 1): Promise<number> {
    if (typeof by !== 'number' || !Number.isFinite(by)) throw new TypeError('incr: the amount must be a number');
    return Number(await this.#call({ op: 'incr', key: keyOf('incr', key), number: by }));
  }

  [Symbol.asyncIterator](): AsyncGenerator<[string, unknown]> {
    return this.#pages<[string, unknown]>('entries', ([key]) => key);
  }

  /** Reads page by page. Records that are written during the reading may be missing. */
  async *#pages<T>(op: 'keys' | 'entries', keyOfItem: (item: T) => string): AsyncGenerator<T> {
    for (let after = ''; ;) {
      const [items, more] = JSON.parse(await this.#call({ op, key: after })) as Page<T>;
      yield* items;
      const last = items.at(-1);
      if (!more || last === undefined) return;
      after = keyOfItem(last);
    }
  }

  #call(call: Omit<Parameters<StoreLink['call']>[1], 'store'>): Promise<string> {
    if (!this.#stores) throw new Error('data stores are not available here');
    return this.#stores.call(this.#execution, { ...call, store: this.#id });
  }
}

const parsed = (text: string): unknown => (text === '' ? undefined : (JSON.parse(text) as unknown));

const keyOf = (op: string, key: unknown): string => {
  if (typeof key !== 'string' && typeof key !== 'number')
    throw new TypeError(`${op}: a key must be a string, not ${key === null ? 'null' : typeof key}`);
  const name = String(key);
  const fault = storeKeyFault(name);
  if (fault !== undefined) throw new RangeError(`${op}: ${fault}`);
  return name;
};

const ttlOf = (op: string, seconds: unknown): number | null => {
  if (seconds === undefined || seconds === null) return null;
  const fault = ttlFault(seconds);
  if (fault !== undefined) throw new RangeError(`${op}: ${fault}`);
  return seconds as number;
};

/** JSON text of a value. A Date becomes its ISO text. */
const textOf = (key: string, value: unknown): string => {
  const call = `set(${JSON.stringify(key.slice(0, 200))})`;
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new TypeError(`${call}: the value cannot be written as JSON: ${messageOf(error)}`, { cause: error });
  }
  if (text === undefined)
    throw new TypeError(
      `${call}: a value of type ${typeof value} cannot be written as JSON: use delete to remove a key`,
    );
  if (nestsTooDeep(text)) throw new RangeError(`${call}: the value nests more than ${MAX_NESTING} levels deep`);
  const fault = storeValueFault(Buffer.byteLength(text));
  if (fault !== undefined) throw new RangeError(`${call}: ${fault}`);
  return text;
};
