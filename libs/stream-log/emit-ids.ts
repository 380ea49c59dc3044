import { hash } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Epoch of the KSUID layout: 4 bytes of seconds since the epoch, then 16 bytes that make the id unique. */
const KSUID_EPOCH_S = 1_400_000_000;
const DIGITS = 27;
const WORD = 2 ** 32;
/** Number of trailing digits of an id that a number represents exactly. */
const TAIL = 8;
const TAIL_VALUES = 62 ** TAIL;

/**
 * Makes the emit ids of one execution: 27 characters, sortable by time, and derived from the execution and the emit's
 * index. So a repeated run makes the same ids.
 * @param atMs time of the invocation (its `at`). The times of the run and of the record change on a repeat.
 */
export const emitIds = (executionId: string, atMs: number): ((index: number) => string) => {
  const digest = hash('sha256', executionId, 'buffer');
  const seconds = (Math.floor(atMs / 1000) - KSUID_EPOCH_S) >>> 0;
  const high = [seconds, digest.readUInt32BE(0), digest.readUInt32BE(4), digest.readUInt32BE(8)];
  const low = digest.readUInt32BE(12);
  // The ids of one execution differ in the last word, so their leading digits are computed once, except for a rare
  // carry.
  const first = base62([...high, 0], DIGITS);
  const head = first.slice(0, -TAIL);
  const tail = valueOf(first.slice(-TAIL));
  return (index) => {
    const last = (low ^ index) >>> 0;
    const sum = tail + last;
    return sum < TAIL_VALUES
      ? head + base62([Math.floor(sum / WORD), sum % WORD], TAIL)
      : base62([...high, last], DIGITS);
  };
};

/** Leading digits of an id, which contain its second and are read exactly as a number. */
const HEAD = 8;
const SECONDS_OF_HEAD = 62 ** (DIGITS - HEAD) / WORD ** 4;

/**
 * Returns the time in an emit id in epoch milliseconds, to the second (rarely the one before), undefined for any other
 * text.
 */
export const timeOfEmitId = (emitId: string): number | undefined =>
  /^[0-9A-Za-z]{27}$/.test(emitId)
    ? (Math.floor(valueOf(emitId.slice(0, HEAD)) * SECONDS_OF_HEAD) + KSUID_EPOCH_S) * 1000
    : undefined;

/** Formats the number that 32-bit words form in base 62, with a fixed number of digits. */
const base62 = (words: number[], digits: number): string => {
  let out = '';
  for (let digit = 0; digit < digits; digit++) {
    let remainder = 0;
    for (let i = 0; i < words.length; i++) {
      const value = remainder * WORD + (words[i] as number);
      words[i] = Math.floor(value / 62);
      remainder = value % 62;
    }
    out = (BASE62[remainder] as string) + out;
  }
  return out;
};

const valueOf = (digits: string): number => [...digits].reduce((value, digit) => value * 62 + BASE62.indexOf(digit), 0);
