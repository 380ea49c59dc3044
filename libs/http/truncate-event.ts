import { pruneJson } from './prune-json.js';

export interface Truncated {
  readonly value: unknown;
  readonly truncated: boolean;
}

const CUT = '…';
/** Bytes reserved at most for each later sibling, so that a long text does not push out all others. */
const SHARE = 48;
const CONTAINER_SHARE = 128;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/**
 * Shortens a JSON value to at most `maxBytes` bytes of JSON in UTF-8 (docs/reference/rest-api.md#event-truncation).
 * The type of the value stays, and values nearer to the top are added first. Long texts are cut with `…`, never within
 * a character. Values that do not fit are left out. A value that fits is returned unchanged. `maxBytes` is at least 32.
 */
export const truncateEvent = (value: unknown, maxBytes: number): Truncated => {
  if (bytesOf(value) <= maxBytes) return { value, truncated: false };
  // Only texts, arrays and objects can be this long.
  if (typeof value === 'string') return { value: cutText(value, maxBytes), truncated: true };
  if (typeof value !== 'object' || value === null) return { value, truncated: false };
  return { value: new Shortening(maxBytes).shorten(value), truncated: true };
};

/**
 * Shortens a JSON text in the same way without parsing a long one in full. One pass, about 7 ms per MB at worst, first
 * prunes it to the values that a shortened form can show.
 */
export const truncateJson = (
  text: string,
  maxBytes: number,
): { readonly text: string; readonly truncated: boolean } => {
  if (Buffer.byteLength(text) <= maxBytes) return { text, truncated: false };
  const value: unknown = JSON.parse(pruneJson(text));
  if (typeof value === 'string') return { text: JSON.stringify(cutText(value, maxBytes)), truncated: true };
  // Any other long text is a number with many digits, or is padded with blanks.
  if (typeof value !== 'object' || value === null) return { text: JSON.stringify(value), truncated: false };
  const { value: shortened } = truncateEvent(value, maxBytes);
  return { text: JSON.stringify(shortened), truncated: true };
};

type Container = unknown[] | Record<string, unknown>;
type Entry = readonly [key: string | undefined, value: unknown];

/** Shortens breadth-first. A container is added empty, and its entries follow after the whole level above. */
class Shortening {
  private readonly queue: { readonly from: object; readonly to: Container }[] = [];

  constructor(private left: number) {}

  shorten(value: object): Container {
    const root = this.emptyLike(value);
    for (let next = this.queue.shift(); next; next = this.queue.shift()) this.fill(next.from, next.to);
    return root;
  }

  private emptyLike(from: object): Container {
    const to: Container = Array.isArray(from) ? [] : {};
    this.left -= 2;
    this.queue.push({ from, to });
    return to;
  }

  private fill(from: object, to: Container): void {
    const entries: Entry[] = Array.isArray(from)
      ? from.map((value: unknown): Entry => [undefined, value])
      : Object.entries(from);
    let reserved = 0;
    const reserves = entries.map((entry) => {
      const reserve = Math.min(shareOf(entry[1]), roughBytesOf(entry));
      reserved += reserve;
      return reserve;
    });
    entries.forEach(([key, value], i) => {
      // The share of an array or object stays reserved, because its entries come later.
      if (shareOf(value) === SHARE) reserved -= reserves[i] ?? 0;
      this.add(to, key, value, reserved);
    });
  }

  private add(to: Container, key: string | undefined, value: unknown, reserved: number): void {
    const comma = isEmpty(to) ? 0 : 1;
    const overhead = comma + (key === undefined ? 0 : bytesOf(key) + 1);
    const room = this.left - overhead;
    if (typeof value === 'object' && value !== null) {
      if (room < 2) return;
      this.left -= overhead;
      put(to, key, this.emptyLike(value));
      return;
    }
    let kept = value;
    let size = bytesOf(value);
    if (typeof value === 'string') {
      const allowed = Math.max(room - reserved, Math.min(room, SHARE));
      if (size > allowed) {
        if (allowed < MIN_TEXT) return;
        kept = cutText(value, allowed);
        size = bytesOf(kept);
      }
    }
    if (size > room) return;
    this.left -= overhead + size;
    put(to, key, kept);
  }
}

/** Bytes of the shortest cut text: quotes, one character of up to 4 bytes and the mark. */
const MIN_TEXT = 2 + 4 + Buffer.byteLength(CUT);

const isEmpty = (to: Container): boolean => (Array.isArray(to) ? to.length === 0 : Object.keys(to).length === 0);

const put = (to: Container, key: string | undefined, value: unknown): void => {
  if (Array.isArray(to)) to.push(value);
  // Define the property instead of assigning it, so `__proto__` is a key like any other.
  else Object.defineProperty(to, key ?? '', { value, enumerable: true, writable: true, configurable: true });
};

const shareOf = (value: unknown): number => (typeof value === 'object' && value !== null ? CONTAINER_SHARE : SHARE);

/** Estimates the JSON size of an entry, for its share. Cheap, but inexact for escapes and nested values. */
const roughBytesOf = ([key, value]: Entry): number => {
  const name = key === undefined ? 1 : key.length + 4;
  switch (typeof value) {
    case 'string':
      return name + value.length + 2;
    case 'object':
      return name + (value === null ? 4 : Object.keys(value).length * 24 + 2);
    default:
      return name + String(value).length;
  }
};

/** Cuts a text to the longest start in whole characters that fits with the mark. `maxBytes` includes the quotes. */
const cutText = (text: string, maxBytes: number): string => {
  let left = maxBytes - 2 - Buffer.byteLength(CUT);
  let end = 0;
  while (end < text.length) {
    const char = String.fromCodePoint(text.codePointAt(end) ?? 0);
    left -= bytesOf(char) - 2;
    if (left < 0) break;
    end += char.length;
  }
  return text.slice(0, end) + CUT;
};
