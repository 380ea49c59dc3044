import { pruneJson } from './prune-json.js';

export interface Truncated {
  readonly value: unknown;
  readonly truncated: boolean;
}

const CUT = '…';
/** What is held free for each later sibling, at most: a long text does not push all others out. */
const SHARE = 48;
const CONTAINER_SHARE = 128;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/**
 * Shortens a JSON value to at most `maxBytes` bytes of JSON (UTF-8), decisions.md 1.8: the type of the value stays;
 * what is nearer to the top goes first; long texts are cut with `…`, never within a character; what does not fit is
 * left out. A value that fits is returned as it is. `maxBytes` is at least 32.
 */
export const truncateEvent = (value: unknown, maxBytes: number): Truncated => {
  if (bytesOf(value) <= maxBytes) return { value, truncated: false };
  // Only texts, arrays and objects can be that long.
  if (typeof value === 'string') return { value: cutText(value, maxBytes), truncated: true };
  if (typeof value !== 'object' || value === null) return { value, truncated: false };
  return { value: new Shortening(maxBytes).shorten(value), truncated: true };
};

/**
 * The same for a JSON text, which is not parsed when it is long: one pass over it (about 7 ms a MB at worst) leaves
 * what a shortened form can show.
 */
export const truncateJson = (
  text: string,
  maxBytes: number,
): { readonly text: string; readonly truncated: boolean } => {
  if (Buffer.byteLength(text) <= maxBytes) return { text, truncated: false };
  const value: unknown = JSON.parse(pruneJson(text));
  if (typeof value === 'string') return { text: JSON.stringify(cutText(value, maxBytes)), truncated: true };
  // Anything else that is long is a number written with many digits, or padded with blanks.
  if (typeof value !== 'object' || value === null) return { text: JSON.stringify(value), truncated: false };
  const { value: shortened } = truncateEvent(value, maxBytes);
  return { text: JSON.stringify(shortened), truncated: true };
};

type Container = unknown[] | Record<string, unknown>;
type Entry = readonly [key: string | undefined, value: unknown];

/** Breadth-first: a container is added empty, its entries come after all of the level above. */
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
      // The share of an array or object stays reserved: its entries come later.
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

/** Quotes, one character of up to 4 bytes, the cut. */
const MIN_TEXT = 2 + 4 + Buffer.byteLength(CUT);

const isEmpty = (to: Container): boolean => (Array.isArray(to) ? to.length === 0 : Object.keys(to).length === 0);

const put = (to: Container, key: string | undefined, value: unknown): void => {
  if (Array.isArray(to)) to.push(value);
  // Defined, not assigned: `__proto__` is a key like any other.
  else Object.defineProperty(to, key ?? '', { value, enumerable: true, writable: true, configurable: true });
};

const shareOf = (value: unknown): number => (typeof value === 'object' && value !== null ? CONTAINER_SHARE : SHARE);

/** About the JSON size of an entry, for sharing out: cheap, not exact for escapes and nested values. */
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

/** The longest start of the text that fits with the cut mark, in whole characters. `maxBytes` includes the quotes. */
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
