import { storeKeyFault, storeValueFault, ttlFault } from '#libs/component-model/data-store-calls.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { epochSeconds } from '#libs/kernel/clock.js';
import { type StoreRecord } from '../data-store-records.js';

const invalid = (field: string, message: string): DomainError =>
  new DomainError('data_store.invalid_record', message, { field });

/** Throws data_store.invalid_record. */
export const checkedKey = (key: string): string => {
  const fault = storeKeyFault(key);
  if (fault !== undefined) throw invalid('key', `key of a record: ${fault}`);
  return key;
};

/** Value and time to live of a body. Throws data_store.invalid_record. */
export const checkedRecord = (body: Readonly<Record<string, unknown>>): { value: string; ttl: number | null } => {
  const { value, ttl = null } = body;
  const text = JSON.stringify(value);
  if (text === undefined) throw invalid('value', 'the body must be {"value": …, "ttl": seconds}: value is missing');
  const tooLarge = storeValueFault(Buffer.byteLength(text));
  if (tooLarge !== undefined) throw invalid('value', `value: ${tooLarge}`);
  const fault = ttl === null ? undefined : ttlFault(ttl);
  if (fault !== undefined) throw invalid('ttl', `ttl: ${fault}`);
  return { value: text, ttl: ttl as number | null };
};

/** Longest cursor: a key of full length in UTF-8 and base64. */
const MAX_CURSOR = 4_096;

export const cursorOf = (key: string): string => Buffer.from(key, 'utf8').toString('base64url');

/** Key of a cursor, empty for none. Throws request.invalid_cursor. */
export const keyAfter = (cursor: unknown): string => {
  if (cursor === undefined || cursor === null || cursor === '') return '';
  if (typeof cursor === 'string' && cursor.length <= MAX_CURSOR) {
    const key = Buffer.from(cursor, 'base64url').toString('utf8');
    if (key !== '' && cursorOf(key) === cursor) return key;
  }
  throw new DomainError('request.invalid_cursor', 'parameter after is no cursor of this list', { field: 'after' });
};

export const recordReply = ({ key, value, expiresAt }: StoreRecord) => ({
  key,
  value: JSON.parse(value) as unknown,
  expires_at: expiresAt === null ? null : epochSeconds(expiresAt),
});
