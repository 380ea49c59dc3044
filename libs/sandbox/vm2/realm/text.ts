/** UTF-8, base64 and hexadecimal, on strings whose characters are bytes ("binary" text, as used on the bridge). */
const { fromCharCode } = String;
const CHUNK = 8192;

export const binaryOf = (bytes: Uint8Array): string => {
  let text = '';
  for (let at = 0; at < bytes.length; at += CHUNK) text += fromCharCode(...bytes.subarray(at, at + CHUNK));
  return text;
};

export const bytesOf = (binary: string): Uint8Array => {
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
};

export const utf8Bytes = (text: string): Uint8Array => {
  const bytes = new Uint8Array(utf8Length(text));
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    let code = text.charCodeAt(i);
    if (code >= 0xd800 && code <= 0xdfff) {
      const low = code < 0xdc00 ? text.charCodeAt(i + 1) : NaN;
      if (low >= 0xdc00 && low <= 0xdfff) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        i++;
      } else code = 0xfffd;
    }
    if (code < 0x80) bytes[at++] = code;
    else if (code < 0x800) {
      bytes[at++] = 0xc0 | (code >> 6);
      bytes[at++] = 0x80 | (code & 63);
    } else if (code < 0x10000) {
      bytes[at++] = 0xe0 | (code >> 12);
      bytes[at++] = 0x80 | ((code >> 6) & 63);
      bytes[at++] = 0x80 | (code & 63);
    } else {
      bytes[at++] = 0xf0 | (code >> 18);
      bytes[at++] = 0x80 | ((code >> 12) & 63);
      bytes[at++] = 0x80 | ((code >> 6) & 63);
      bytes[at++] = 0x80 | (code & 63);
    }
  }
  return bytes;
};

export const utf8Length = (text: string): number => {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) continue;
    if (code < 0x800) bytes += 1;
    else {
      bytes += 2;
      const low = code >= 0xd800 && code < 0xdc00 ? text.charCodeAt(i + 1) : NaN;
      // A surrogate pair becomes four bytes.
      if (low >= 0xdc00 && low <= 0xdfff) i++;
    }
  }
  return bytes;
};

/** Length of the sequence that a byte begins, or 0, with the lowest and highest valid second byte. */
const sequenceOf = (first: number): readonly [length: number, low: number, high: number] => {
  if (first >= 0xc2 && first <= 0xdf) return [2, 0x80, 0xbf];
  if (first >= 0xe0 && first <= 0xef) return [3, first === 0xe0 ? 0xa0 : 0x80, first === 0xed ? 0x9f : 0xbf];
  if (first >= 0xf0 && first <= 0xf4) return [4, first === 0xf0 ? 0x90 : 0x80, first === 0xf4 ? 0x8f : 0xbf];
  return [0, 0, 0];
};

/** Decodes UTF-8. Invalid bytes become U+FFFD as WHATWG specifies, or throw when `fatal`. */
export const utf8Text = (bytes: Uint8Array, fatal = false): string => {
  const parts: string[] = [];
  let units: number[] = [];
  for (let i = 0; i < bytes.length;) {
    const first = bytes[i++] ?? 0;
    let code = first;
    if (first >= 0x80) {
      const [length, low, high] = sequenceOf(first);
      let consumed = 1;
      code = length === 0 ? -1 : first & (0xff >> (length + 1));
      for (; consumed < length; consumed++) {
        const next = bytes[i] ?? 0;
        if (i >= bytes.length || next < (consumed === 1 ? low : 0x80) || next > (consumed === 1 ? high : 0xbf)) break;
        code = (code << 6) | (next & 63);
        i++;
      }
      if (length === 0 || consumed < length) {
        if (fatal) throw new TypeError('The encoded data was not valid for encoding utf-8');
        code = 0xfffd;
      }
    }
    if (code >= 0x10000) units.push(0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff));
    else units.push(code);
    if (units.length >= CHUNK) {
      parts.push(fromCharCode(...units));
      units = [];
    }
  }
  return parts.join('') + fromCharCode(...units);
};

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Map([...ALPHABET].map((letter, value) => [letter, value]));
VALUES.set('-', 62).set('_', 63);

export const base64Text = (bytes: Uint8Array): string => {
  let text = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const word = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    const letter = (shift: number): string => ALPHABET.charAt((word >> shift) & 63);
    text += letter(18) + letter(12) + (left > 1 ? letter(6) : '=') + (left > 2 ? letter(0) : '=');
  }
  return text;
};

/** Decodes base64 in both alphabets. Like Node, it skips other characters and stops at "=". */
export const base64Bytes = (text: string): Uint8Array => {
  const bytes: number[] = [];
  let word = 0;
  let bits = 0;
  for (let i = 0; i < text.length && text.charAt(i) !== '='; i++) {
    const value = VALUES.get(text.charAt(i));
    if (value === undefined) continue;
    word = ((word << 6) | value) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((word >> bits) & 0xff);
  }
  return new Uint8Array(bytes);
};

export const atob = (text: unknown): string => {
  const clean = String(text).replace(/[\t\n\f\r ]/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(clean) || clean.replace(/=+$/, '').length % 4 === 1)
    throw new Error('atob: the text is not correctly encoded');
  return binaryOf(base64Bytes(clean));
};

export const btoa = (text: unknown): string => {
  const binary = String(text);
  if (/[^\0-\xff]/.test(binary)) throw new Error('btoa: a character is beyond Latin-1');
  return base64Text(bytesOf(binary));
};

export const viewOf = (input: unknown): Uint8Array => {
  if (input === undefined) return new Uint8Array(0);
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  throw new TypeError('expected an ArrayBuffer or a view of one');
};

export class TextEncoder {
  readonly encoding = 'utf-8';
  encode(text: unknown = ''): Uint8Array {
    return utf8Bytes(String(text));
  }
}

/** Supports only UTF-8 and whole texts. */
export class TextDecoder {
  readonly encoding = 'utf-8';
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    if (!/^\s*(unicode-1-1-utf-8|utf-?8)\s*$/i.test(String(label)))
      throw new RangeError(`TextDecoder: with SLUICE_ISOLATION=vm2 there is only utf-8, not "${String(label)}"`);
    this.fatal = options.fatal === true;
    this.ignoreBOM = options.ignoreBOM === true;
  }
  decode(input?: unknown, options: { stream?: boolean } = {}): string {
    if (options.stream === true) throw new TypeError('TextDecoder: streams are not offered with SLUICE_ISOLATION=vm2');
    const text = utf8Text(viewOf(input), this.fatal);
    return this.ignoreBOM ? text : text.replace(/^\uFEFF/, '');
  }
}
