import { type FetchHead, type FetchRequest } from '../bridge.js';
import { type AbortSignal } from './abort.js';
import { abortFetch, fetch as ask } from './bridge-end.js';
import { binaryOf, bytesOf, utf8Bytes, utf8Text, viewOf } from './text.js';
import { URL, URLSearchParams } from './url.js';

type HeadersInput = Headers | Iterable<readonly [unknown, unknown]> | Record<string, unknown>;

export class Headers {
  private readonly values_ = new Map<string, string[]>();
  constructor(init: HeadersInput = {}) {
    const entries =
      Symbol.iterator in init ? [...(init as Iterable<readonly [unknown, unknown]>)] : Object.entries(init);
    for (const [name, value] of entries) this.append(name, value);
  }
  append(name: unknown, value: unknown): void {
    const key = String(name).toLowerCase();
    this.values_.set(key, [...(this.values_.get(key) ?? []), String(value).trim()]);
  }
  set(name: unknown, value: unknown): void {
    this.values_.set(String(name).toLowerCase(), [String(value).trim()]);
  }
  get(name: unknown): string | null {
    return this.values_.get(String(name).toLowerCase())?.join(', ') ?? null;
  }
  getSetCookie(): string[] {
    return [...(this.values_.get('set-cookie') ?? [])];
  }
  has(name: unknown): boolean {
    return this.values_.has(String(name).toLowerCase());
  }
  delete(name: unknown): void {
    this.values_.delete(String(name).toLowerCase());
  }
  forEach(callback: (value: string, name: string, headers: this) => void): void {
    for (const [name, value] of this.entries()) callback(value, name, this);
  }
  entries(): IterableIterator<[string, string]> {
    const names = [...this.values_.keys()].sort();
    return names
      .flatMap((name) => {
        const values = this.values_.get(name) ?? [];
        return (name === 'set-cookie' ? values : [values.join(', ')]).map((value): [string, string] => [name, value]);
      })
      [Symbol.iterator]();
  }
  keys(): IterableIterator<string> {
    return [...this.entries()].map(([name]) => name)[Symbol.iterator]();
  }
  values(): IterableIterator<string> {
    return [...this.entries()].map(([, value]) => value)[Symbol.iterator]();
  }
  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}

interface ResponseInit {
  readonly status?: number;
  readonly statusText?: string;
  readonly headers?: HeadersInput;
  readonly url?: string;
  readonly redirected?: boolean;
}

/** Response whose body is read as a whole. `body` is not available as a stream. */
export class Response {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly url: string;
  readonly redirected: boolean;
  readonly type = 'default';
  bodyUsed = false;
  private readonly bytes: Uint8Array;
  constructor(body?: unknown, init: ResponseInit = {}) {
    const { bytes, type } = bodyOf(body);
    this.bytes = bytes ?? new Uint8Array(0);
    this.status = init.status ?? 200;
    this.statusText = init.statusText ?? '';
    this.headers = new Headers(init.headers);
    if (type !== null && !this.headers.has('content-type')) this.headers.set('content-type', type);
    this.url = init.url ?? '';
    this.redirected = init.redirected ?? false;
  }
  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }
  get body(): never {
    throw new TypeError(
      'Response.body: streams are not offered with SLUICE_ISOLATION=vm2; use text(), json() or arrayBuffer()',
    );
  }
  private consume(): Promise<Uint8Array> {
    if (this.bodyUsed) return Promise.reject(new TypeError('Body is unusable: Body has already been read'));
    this.bodyUsed = true;
    return Promise.resolve(this.bytes);
  }
  async text(): Promise<string> {
    return utf8Text(await this.consume()).replace(/^\uFEFF/, '');
  }
  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }
  async arrayBuffer(): Promise<ArrayBufferLike> {
    return (await this.consume()).slice().buffer;
  }
  clone(): Response {
    if (this.bodyUsed) throw new TypeError('Response.clone: Body has already been consumed.');
    return new Response(this.bytes, this);
  }
}

const bodyOf = (body: unknown): { bytes: Uint8Array | null; type: string | null } => {
  if (body === undefined || body === null) return { bytes: null, type: null };
  if (body instanceof URLSearchParams)
    return { bytes: utf8Bytes(body.toString()), type: 'application/x-www-form-urlencoded;charset=UTF-8' };
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return { bytes: viewOf(body), type: null };
  return { bytes: utf8Bytes(`${body as string}`), type: 'text/plain;charset=UTF-8' };
};

interface Waiting {
  readonly resolve: (response: Response) => void;
  readonly reject: (error: unknown) => void;
}

const waiting = new Map<number, Waiting>();
let last = 0;

interface FetchInit {
  readonly method?: unknown;
  readonly headers?: HeadersInput;
  readonly body?: unknown;
  readonly redirect?: FetchRequest['redirect'];
  readonly signal?: AbortSignal | null;
}

/** Fetches through the egress guard, with the host's fetch. Accepts a URL but no Request object. */
export const fetch = async (address: unknown, init: FetchInit = {}): Promise<Response> => {
  const { bytes, type } = bodyOf(init.body);
  const headers = new Headers(init.headers ?? {});
  if (type !== null && !headers.has('content-type')) headers.set('content-type', type);
  init.signal?.throwIfAborted();
  const request: FetchRequest = {
    url: new URL(address).toString(),
    method: init.method === undefined ? 'GET' : `${init.method as string}`,
    headers: [...headers],
    redirect: init.redirect ?? 'follow',
    hasBody: bytes !== null,
  };
  const id = ++last;
  const { signal } = init;
  return new Promise<Response>((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    signal?.addEventListener('abort', () => {
      if (!waiting.delete(id)) return;
      abortFetch(id);
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the reason is the component's
      reject(signal.reason);
    });
    ask(id, JSON.stringify(request), bytes === null ? '' : binaryOf(bytes));
  });
};

/** Called by the host. */
export const answer = (id: number, head: string, body: string): void => {
  const request = waiting.get(id);
  if (!request || !waiting.delete(id)) return;
  const parsed = JSON.parse(head) as FetchHead;
  if (!('error' in parsed)) return request.resolve(new Response(bytesOf(body), parsed));
  const cause = Object.assign(new Error(parsed.cause), parsed.code === '' ? {} : { code: parsed.code });
  request.reject(new TypeError(parsed.error, { cause }));
};
