import { DATA_STORE_OPS, storeKeyFault, storeValueFault, ttlFault } from '#libs/component-model/data-store-calls.js';

const OPS: ReadonlySet<unknown> = new Set(DATA_STORE_OPS);
const STORE_ID = /^ds_[0-9a-z]{6,40}$/;

const isKeyOf = (op: unknown, key: unknown): boolean => {
  if (typeof key !== 'string') return false;
  if (op === 'size' || op === 'clear') return key === '';
  // Empty before the first page.
  if (key === '' && (op === 'keys' || op === 'entries')) return true;
  return storeKeyFault(key) === undefined;
};

const isNumberOf = (op: unknown, number: unknown): boolean => {
  if (op === 'incr') return typeof number === 'number' && Number.isFinite(number);
  if (op === 'set' || op === 'setTtl') return number === null || ttlFault(number) === undefined;
  return number === null;
};

/** True for a well-formed message of kind `q` (protocol.ts). Its value is checked where it is read. */
export const isStoreCall = (message: readonly unknown[], rawBytes: number): boolean => {
  const [, n, id, op, store, key, number] = message;
  return (
    message.length === 7 &&
    [n, id].every((each) => Number.isSafeInteger(each) && (each as number) >= 0) &&
    OPS.has(op) &&
    typeof store === 'string' &&
    STORE_ID.test(store) &&
    isKeyOf(op, key) &&
    isNumberOf(op, number) &&
    (op === 'set' ? rawBytes > 0 && storeValueFault(rawBytes) === undefined : rawBytes === 0)
  );
};
