import { url } from './bridge-end.js';
import { type URL_PARTS } from '../bridge.js';

type Parts = Record<(typeof URL_PARTS)[number], string>;
type Init = string | URLSearchParams | Iterable<readonly [unknown, unknown]> | Record<string, unknown>;

const { parse } = JSON;

const decoded = (text: string): string => {
  const spaced = text.replace(/\+/g, ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    // A stray "%" stays unchanged.
    return spaced;
  }
};
const encoded = (text: string): string =>
  encodeURIComponent(text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD'))
    .replace(/%20/g, '+')
    .replace(/[!'()~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

const pairsOf = (init: Init): [string, string][] => {
  if (typeof init === 'string')
    return init
      .replace(/^\?/, '')
      .split('&')
      .filter((part) => part !== '')
      .map((part) => {
        const at = part.indexOf('=');
        return at < 0 ? [decoded(part), ''] : [decoded(part.slice(0, at)), decoded(part.slice(at + 1))];
      });
  const entries = Symbol.iterator in init ? [...(init as Iterable<readonly [unknown, unknown]>)] : Object.entries(init);
  return entries.map(([name, value]) => [String(name), String(value)]);
};

export class URLSearchParams {
  private pairs: [string, string][];
  private readonly changed: (() => void) | undefined;
  constructor(init: Init = '', changed?: () => void) {
    this.pairs = pairsOf(init);
    this.changed = typeof changed === 'function' ? changed : undefined;
  }
  get size(): number {
    return this.pairs.length;
  }
  append(name: unknown, value: unknown): void {
    this.pairs.push([String(name), String(value)]);
    this.changed?.();
  }
  delete(name: unknown): void {
    this.pairs = this.pairs.filter(([key]) => key !== String(name));
    this.changed?.();
  }
  get(name: unknown): string | null {
    return this.pairs.find(([key]) => key === String(name))?.[1] ?? null;
  }
  getAll(name: unknown): string[] {
    return this.pairs.filter(([key]) => key === String(name)).map(([, value]) => value);
  }
  has(name: unknown): boolean {
    return this.pairs.some(([key]) => key === String(name));
  }
  set(name: unknown, value: unknown): void {
    const at = this.pairs.findIndex(([key]) => key === String(name));
    if (at < 0) return this.append(name, value);
    this.pairs = this.pairs.filter(([key], i) => i <= at || key !== String(name));
    this.pairs[at] = [String(name), String(value)];
    this.changed?.();
  }
  sort(): void {
    this.pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.changed?.();
  }
  forEach(callback: (value: string, name: string, params: this) => void): void {
    for (const [name, value] of this.pairs) callback(value, name, this);
  }
  keys(): IterableIterator<string> {
    return this.pairs.map(([name]) => name)[Symbol.iterator]();
  }
  values(): IterableIterator<string> {
    return this.pairs.map(([, value]) => value)[Symbol.iterator]();
  }
  entries(): IterableIterator<[string, string]> {
    return this.pairs.map(([name, value]): [string, string] => [name, value])[Symbol.iterator]();
  }
  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
  toString(): string {
    return this.pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&');
  }
}

/** URL parsed by the host. Only strings cross the bridge. */
export class URL {
  private parts: Parts;
  private params: URLSearchParams | undefined;
  constructor(href: unknown, base?: unknown) {
    const text = url(String(href), base === undefined ? '' : `${base as string}`, '', '');
    if (text === '')
      throw Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL', input: String(href) });
    this.parts = parse(text) as Parts;
  }
  static canParse(href: unknown, base?: unknown): boolean {
    return url(String(href), base === undefined ? '' : `${base as string}`, '', '') !== '';
  }
  get searchParams(): URLSearchParams {
    const params = (this.params ??= new URLSearchParams(this.parts.search, () =>
      this.change('search', params.toString()),
    ));
    return params;
  }
  toString(): string {
    return this.parts.href;
  }
  toJSON(): string {
    return this.parts.href;
  }
  part(name: keyof Parts): string {
    return this.parts[name];
  }
  setPart(name: keyof Parts, value: unknown): void {
    this.change(name, String(value));
    this.params = undefined;
  }
  private change(name: keyof Parts, value: string): void {
    const text = url(this.parts.href, '', name, value);
    if (text !== '') this.parts = parse(text) as Parts;
    else if (name === 'href') throw Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL' });
  }
}

const NAMES: readonly (keyof Parts)[] = [
  ...(['href', 'origin', 'protocol', 'username', 'password', 'host'] as const),
  ...(['hostname', 'port', 'pathname', 'search', 'hash'] as const),
];
for (const name of NAMES)
  Object.defineProperty(URL.prototype, name, {
    configurable: true,
    enumerable: true,
    get(this: URL) {
      return this.part(name);
    },
    ...(name === 'origin'
      ? {}
      : {
          set(this: URL, value: unknown) {
            this.setPart(name, value);
          },
        }),
  });
