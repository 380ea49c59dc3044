import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { Semaphore } from '#libs/async/semaphore.js';

type Unpack = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

const gzip: Unpack = promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(gunzip);
const zlib: Unpack = promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(inflate);
const raw: Unpack = promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(inflateRaw);

/**
 * `deflate` means the zlib format, but some senders omit its two-byte header. No raw stream begins like that header.
 */
const deflate: Unpack = (bytes, options) => (((bytes[0] ?? 0) & 0x0f) === 8 ? zlib : raw)(bytes, options);

const CODINGS: ReadonlyMap<string, Unpack> = new Map([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', deflate],
  ['br', promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(brotliDecompress)],
]);

/** Most codings of one body. Each may unpack to the limit of a body. */
export const MAX_CODINGS = 4;

/** Bodies that are unpacked concurrently, in zlib's four threads, and those of one holder. */
const AT_ONCE = 4;
const AT_ONCE_OF_HOLDER = 2;
const turns = new Semaphore(AT_ONCE, () => AT_ONCE_OF_HOLDER);

/** Reads the header Content-Encoding, in the order of the sender. Undefined when one is not known. */
export const codingsOf = (header: string): readonly string[] | undefined => {
  const names = header.split(',').map((name) => name.trim().toLowerCase());
  const codings = names.filter((name) => name !== '' && name !== 'identity');
  return codings.every((name) => CODINGS.has(name)) ? codings : undefined;
};

/** Bytes that a body of `maxBytes` has at most when it is packed, whatever the settings of its sender. */
export const mostPacked = (maxBytes: number): number => maxBytes + (maxBytes >> 3) + 1024;

/**
 * Undoes codings, the last one first. zlib stops once a result exceeds its limit, so a small body costs neither memory
 * nor time, even when only intermediate results are large. Resolves with undefined for a result above `maxBytes`, and
 * rejects for bytes that a coding cannot have made. Waits while as many bodies as allowed are being unpacked.
 */
export const unpacked = async (
  bytes: Buffer,
  codings: readonly string[],
  maxBytes: number,
  holder: string,
): Promise<Buffer | undefined> => {
  await turns.acquire(holder);
  try {
    let body = bytes;
    for (let left = codings.length; left > 0; left--) {
      const maxOutputLength = left === 1 ? maxBytes : mostPacked(maxBytes);
      body = await (CODINGS.get(codings[left - 1] ?? '') as Unpack)(body, { maxOutputLength });
    }
    return body;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined;
    throw error;
  } finally {
    turns.release(holder);
  }
};
