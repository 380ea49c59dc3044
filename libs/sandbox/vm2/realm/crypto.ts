import { digest, randomBytes as randomText } from './bridge-end.js';
import { Buffer, encode } from './buffer.js';
import { binaryOf, bytesOf, viewOf } from './text.js';

const MISSING = 'is not offered with SLUICE_ISOLATION=vm2';

const binary = (data: unknown, encoding?: unknown): string =>
  binaryOf(typeof data === 'string' ? encode(data, encoding) : viewOf(data));

class Hash {
  private parts: string[] = [];
  private done = false;
  constructor(
    private readonly algorithm: string,
    private readonly keyed: 0 | 1,
    private readonly key: string,
  ) {
    if (digest(algorithm, keyed, key, '') === '') throw new Error(`crypto: the digest "${algorithm}" is not supported`);
  }
  update(data: unknown, encoding?: unknown): this {
    if (this.done) throw new Error('Digest already called');
    if (data === undefined) throw new TypeError('update: expected a string, a Buffer, or a view');
    this.parts.push(binary(data, encoding));
    return this;
  }
  digest(): Buffer;
  digest(encoding: string): string;
  digest(encoding?: string): Buffer | string {
    if (this.done) throw new Error('Digest already called');
    this.done = true;
    const bytes = Buffer.from(bytesOf(digest(this.algorithm, this.keyed, this.key, this.parts.join(''))));
    return encoding === undefined || encoding === 'buffer' ? bytes : bytes.toString(encoding);
  }
}

export const createHash = (algorithm: unknown): Hash => new Hash(String(algorithm), 0, '');
export const createHmac = (algorithm: unknown, key: unknown): Hash => {
  if (key === undefined || key === null)
    throw new TypeError('createHmac: the key must be a string, a Buffer, or a view');
  return new Hash(String(algorithm), 1, binary(key));
};

export const timingSafeEqual = (a: unknown, b: unknown): boolean => {
  const [left, right] = [viewOf(a), viewOf(b)];
  if (left.length !== right.length) throw new RangeError('Input buffers must have the same byte length');
  let difference = 0;
  for (let i = 0; i < left.length; i++) difference |= (left[i] ?? 0) ^ (right[i] ?? 0);
  return difference === 0;
};

export const randomBytes = (size: number): Buffer => {
  const text = randomText(size);
  if (text.length !== size) throw new RangeError(`randomBytes: size must be an integer from 0 to 1048576, not ${size}`);
  return Buffer.from(bytesOf(text));
};

export const randomUUID = (): string => {
  const bytes = randomBytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
};

export const randomInt = (first: number, second?: number): number => {
  const [low, high] = second === undefined ? [0, first] : [first, second];
  const range = high - low;
  if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high) || range <= 0 || range > 2 ** 48)
    throw new RangeError(`randomInt: max must be an integer greater than min, at most 2^48 above it`);
  const limit = 2 ** 48 - (2 ** 48 % range);
  for (;;) {
    const value = parseInt(randomBytes(6).toString('hex'), 16);
    if (value < limit) return low + (value % range);
  }
};

const getRandomValues = <T>(array: T): T => {
  const view = viewOf(array);
  view.set(randomBytes(view.length));
  return array;
};

export const webcrypto = {
  randomUUID,
  getRandomValues,
  get subtle(): never {
    throw new Error(`crypto.subtle ${MISSING}`);
  },
};
