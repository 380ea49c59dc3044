import { hash, randomFillSync } from 'node:crypto';
import { v5 as uuidV5, v7 as uuidV7 } from 'uuid';

/** Prefixes of public ids (docs/reference/rest-api.md#id-prefixes) and of internal ones. */
export type IdPrefix =
  | 'sc'
  | 'reg'
  | 'dc'
  | 'ds'
  | 'p'
  | 'd'
  | 'c'
  | 'hi'
  | 'ti'
  | 'wh'
  | 'sub'
  | 'rpl'
  | 'asub'
  | 'o'
  | 'u'
  | 'key'
  | 'apn'
  | 'app'
  | 'var'
  | 'sec'
  | 'dlv'
  | 'inv'
  | 'proj'
  | 'proc'
  | 'act'
  | 'run'
  | 'snd';

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';
const EVENT_NAMESPACE = '6d1f8a52-3b1c-5e0f-9a0b-0c2f8d6f5a11';

const base36 = (bytes: Uint8Array, length: number): string => {
  let out = '';
  for (let i = 0; i < length; i++) out += ALPHABET[(bytes[i] ?? 0) % 36];
  return out;
};

const POOL_BYTES = 8_192;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/** Returns random bytes, each used once. Drawing them in bulk costs a tenth, and every event needs an id. */
const randomBytes = (length: number): Uint8Array => {
  if (used + length > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  used += length;
  return pool.subarray(used - length, used);
};

/** Makes an id such as `dc_` + 9 characters of time + 9 random ones. Sorts by creation, unique without coordination. */
export const newId = (prefix: IdPrefix, now: number): string =>
  `${prefix}_${now.toString(36).padStart(9, '0')}${base36(randomBytes(9), 9)}`;

/**
 * Sort of a resource in its list, from its id alone: the time of its creation in fixed width. Undefined for a text that
 * is no id of that kind, or has an impossible time.
 */
export const creationSortOf =
  (prefix: IdPrefix) =>
  (id: string): string | undefined => {
    if (!id.startsWith(`${prefix}_`) || !/^[0-9a-z]{18}$/.test(id.slice(prefix.length + 1))) return undefined;
    const ms = parseInt(id.slice(prefix.length + 1, prefix.length + 10), 36);
    return creationSort(ms);
  };

/** @param ms epoch milliseconds. */
export const creationSort = (ms: number): string => String(ms).padStart(15, '0');

/** Derives an id from its parts, so that a repeat of the work finds the results of the first attempt. */
export const derivedId = (prefix: IdPrefix, ...parts: string[]): string =>
  `${prefix}_${base36(hash('sha256', parts.join('\n'), 'buffer'), 18)}`;

const MAX_ID = 200;

/** True when an external text may be an id of that kind. Other texts must not reach a store or a stream name. */
export const isIdOf = (prefix: IdPrefix, text: string): boolean =>
  text.length <= MAX_ID && text.startsWith(`${prefix}_`) && /^[\w-]+$/.test(text);

/** Shortens an external id for an error text. */
export const shownId = (text: string): string =>
  text.length > 100 ? `${text.slice(0, 100)}… (${text.length} characters)` : text;

export const randomKey = (length: number): string => base36(randomBytes(length), length);

export const newCommandId = (): string => uuidV7();

/** UUID v5 of command, stream and index. A retried command appends the same ids, and the store absorbs them. */
export const eventIdOf = (commandId: string, stream: string, index: number): string =>
  uuidV5(`${commandId}/${stream}/${index}`, EVENT_NAMESPACE);
