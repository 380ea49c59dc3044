import { base64Bytes, base64Text, binaryOf, bytesOf, utf8Bytes, utf8Length, utf8Text, viewOf } from './text.js';

const encodingOf = (name: unknown): string => {
  const encoding = name === undefined || name === null ? 'utf8' : `${name as string}`.toLowerCase();
  if (encoding === 'utf-8') return 'utf8';
  if (encoding === 'binary') return 'latin1';
  if (/^(ucs-?2|utf-?16le)$/.test(encoding)) return 'utf16le';
  if (['utf8', 'latin1', 'ascii', 'hex', 'base64', 'base64url'].includes(encoding)) return encoding;
  throw new TypeError(`Unknown encoding: ${String(name)}`);
};

export const encode = (text: string, name?: unknown): Uint8Array => {
  switch (encodingOf(name)) {
    case 'hex': {
      const bytes: number[] = [];
      for (let i = 0; /^[0-9a-f]{2}$/i.test(text.slice(i, i + 2)); i += 2)
        bytes.push(parseInt(text.slice(i, i + 2), 16));
      return new Uint8Array(bytes);
    }
    case 'base64':
    case 'base64url':
      return base64Bytes(text);
    case 'latin1':
    case 'ascii':
      return bytesOf(text);
    case 'utf16le':
      return bytesOf(
        [...text.split('')].map((c) => String.fromCharCode(c.charCodeAt(0) & 255, c.charCodeAt(0) >> 8)).join(''),
      );
    default:
      return utf8Bytes(text);
  }
};

export const decode = (bytes: Uint8Array, name?: unknown): string => {
  switch (encodingOf(name)) {
    case 'hex':
      return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    case 'base64':
      return base64Text(bytes);
    case 'base64url':
      return base64Text(bytes).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
    case 'latin1':
      return binaryOf(bytes);
    case 'ascii':
      return binaryOf(bytes.map((byte) => byte & 127));
    case 'utf16le': {
      let text = '';
      for (let i = 0; i + 1 < bytes.length; i += 2)
        text += String.fromCharCode((bytes[i] ?? 0) | ((bytes[i + 1] ?? 0) << 8));
      return text;
    }
    default:
      return utf8Text(bytes);
  }
};

const compareBytes = (a: Uint8Array, b: Uint8Array): number => {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = (a[i] ?? 0) - (b[i] ?? 0);
    if (order !== 0) return Math.sign(order);
  }
  return Math.sign(a.length - b.length);
};

const asBytes = (value: unknown, encoding?: unknown): Uint8Array =>
  typeof value === 'string' ? encode(value, encoding) : viewOf(value);

type Prim = { [Symbol.toPrimitive]?: unknown; valueOf?: () => unknown };

/** Subset of Node's Buffer: texts, comparison, slices, and big-endian or little-endian integers. */
export class Buffer extends Uint8Array {
  static override from(value: unknown, second?: unknown, length?: unknown): Buffer {
    if (typeof value === 'string') return wrap(encode(value, second));
    if (value instanceof ArrayBuffer)
      return new Buffer(value, second as number | undefined, length as number | undefined);
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return wrap(new Uint8Array(value as Uint8Array));
    if (typeof value === 'object' && value !== null) {
      const { type, data } = value as { type?: unknown; data?: unknown };
      if (type === 'Buffer' && Array.isArray(data)) return wrap(new Uint8Array(data as number[]));
      if (Array.isArray(value) || 'length' in value)
        return wrap(new Uint8Array(Array.from(value as ArrayLike<number>)));
      const primitive = (value as Prim).valueOf?.();
      if (typeof primitive === 'string') return Buffer.from(primitive, second);
    }
    throw new TypeError('Buffer.from: expected a string, an array, a Buffer, or an ArrayBuffer');
  }
  static alloc(size: number, fill?: unknown, encoding?: unknown): Buffer {
    const buffer = new Buffer(size);
    return fill === undefined ? buffer : buffer.fill(fill, 0, size, encoding);
  }
  static allocUnsafe(size: number): Buffer {
    return new Buffer(size);
  }
  static isBuffer(value: unknown): boolean {
    return value instanceof Buffer;
  }
  static isEncoding(name: unknown): boolean {
    try {
      return typeof name === 'string' && encodingOf(name) !== '';
    } catch {
      return false;
    }
  }
  static byteLength(value: unknown, encoding?: unknown): number {
    if (typeof value !== 'string') return viewOf(value).byteLength;
    return encodingOf(encoding) === 'utf8' ? utf8Length(value) : encode(value, encoding).length;
  }
  static concat(list: readonly Uint8Array[], total = list.reduce((sum, { length }) => sum + length, 0)): Buffer {
    const joined = new Buffer(total);
    let at = 0;
    for (const part of list) {
      if (at >= total) break;
      joined.set(part.subarray(0, total - at), at);
      at += part.length;
    }
    return joined;
  }
  static compare(a: Uint8Array, b: Uint8Array): number {
    return compareBytes(a, b);
  }
  override toString(encoding?: unknown, start = 0, end = this.length): string {
    return decode(Uint8Array.prototype.subarray.call(this, start, end), encoding);
  }
  toJSON(): object {
    return { type: 'Buffer', data: Array.from(this) };
  }
  equals(other: Uint8Array): boolean {
    return compareBytes(this, other) === 0;
  }
  compare(other: Uint8Array): number {
    return compareBytes(this, other);
  }
  override subarray(start?: number, end?: number): Buffer {
    const part = super.subarray(start, end);
    return new Buffer(part.buffer, part.byteOffset, part.length);
  }
  override slice(start?: number, end?: number): Buffer {
    return this.subarray(start, end);
  }
  override fill(value: unknown, start = 0, end = this.length, encoding?: unknown): this {
    if (typeof value === 'number') return super.fill(value, start, end);
    const pattern = asBytes(value, encoding);
    for (let i = start; i < end; i++) this[i] = pattern.length === 0 ? 0 : (pattern[(i - start) % pattern.length] ?? 0);
    return this;
  }
  write(text: string, offset = 0, length = this.length - offset, encoding?: unknown): number {
    const bytes = encode(text, encoding).subarray(0, Math.min(length, this.length - offset));
    this.set(bytes, offset);
    return bytes.length;
  }
  copy(target: Uint8Array, targetStart = 0, start = 0, end = this.length): number {
    const part = Uint8Array.prototype.subarray.call(this, start, Math.min(end, start + target.length - targetStart));
    target.set(part, targetStart);
    return part.length;
  }
  override indexOf(value: unknown, from = 0, encoding?: unknown): number {
    const wanted = typeof value === 'number' ? new Uint8Array([value]) : asBytes(value, encoding);
    for (let i = Math.max(from, 0); i + wanted.length <= this.length; i++)
      if (wanted.every((byte, j) => this[i + j] === byte)) return i;
    return -1;
  }
  override includes(value: unknown, from = 0, encoding?: unknown): boolean {
    return this.indexOf(value, from, encoding) >= 0;
  }
}

const wrap = (bytes: Uint8Array): Buffer => new Buffer(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);

/** Defines the methods readUInt8 to writeInt32LE, and their aliases such as readUint8. */
const defineIntegers = (): void => {
  for (const bits of [8, 16, 32] as const)
    for (const sign of ['Int', 'Uint'] as const)
      for (const order of bits === 8 ? [''] : ['LE', 'BE'])
        for (const name of new Set([sign, sign === 'Uint' ? 'UInt' : sign])) {
          const read = function (this: Buffer, offset = 0): number {
            const view = new DataView(this.buffer, this.byteOffset, this.byteLength);
            return view[`get${sign}${bits}`](offset, order === 'LE');
          };
          const write = function (this: Buffer, value: number, offset = 0): number {
            const view = new DataView(this.buffer, this.byteOffset, this.byteLength);
            view[`set${sign}${bits}`](offset, value, order === 'LE');
            return offset + bits / 8;
          };
          const define = (key: string, value: unknown): void =>
            void Object.defineProperty(Buffer.prototype, key, { value, writable: true, configurable: true });
          define(`read${name}${bits}${order}`, read);
          define(`write${name}${bits}${order}`, write);
        }
};
defineIntegers();
