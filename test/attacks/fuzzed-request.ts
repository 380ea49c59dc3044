export interface FuzzedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
  /** Replaces the right API key. */
  readonly key?: string;
}

/** Existing resources of the server, so that the fuzz gets past the first look-up. */
export interface Known {
  /** A source other than the endpoint's. It may be changed, and is not deleted. */
  readonly source: string;
  readonly component: string;
  readonly webhook: string;
  /** Path of an endpoint. */
  readonly endpoint: string;
}

const METHODS = ['GET', 'GET', 'POST', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'];

const ROUTES = [
  ...['/v1/components', '/v1/components/:id', '/v1/sources', '/v1/sources/:id', '/v1/sources/:id/run'],
  ...['/v1/sources/:id/event_summaries', '/v1/sources/:id/$errors/event_summaries', '/v1/sources/:id/events'],
  ...['/v1/users/me', '/v1/users/me/sources', '/v1/users/me/subscriptions', '/v1/users/me/webhooks', '/v1/audit/:id'],
  ...['/v1/subscriptions', '/v1/webhooks', '/v1/webhooks/:id', '/v1/webhooks/:id/deliveries', '/v1/api_keys/:id'],
  ...['/v1/openapi.json', '/healthz', '/readyz', '/metrics', '/', '/v1', '/v1/:id/:id/:id', '/h/:id', '/h/'],
];

const IDS = [
  ...[
    '__proto__',
    'constructor',
    'toString',
    '..',
    '%2e%2e',
    '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '%00',
    'a%00b',
    '%ff',
    '%E0%A4%A',
  ],
  ...[
    '%',
    '%zz',
    '%ed%a0%80',
    '%F0%9F%99%82',
    '$errors',
    '%24logs',
    '*',
    ':id',
    'dc_',
    'dc_0',
    'sc_x',
    'wh_1',
    'o_1',
    ' '.replace(' ', '%20'),
  ],
  ...[
    'a'.repeat(2_000),
    '%25'.repeat(500),
    ';a=b',
    'a&b=c',
    'null',
    'undefined',
    '-1',
    '1e999',
    '{}',
    '[]',
    '%0d%0aset-cookie:a=b',
  ],
];

const FIELDS = [
  ...[
    'component_id',
    'component_url',
    'component_key',
    'key',
    'name',
    'active',
    'configured_props',
    'emit_on_deploy',
    'files',
  ],
  ...[
    'if_updated_at',
    'ignore_hook_errors',
    'event',
    'wait',
    'emitter_id',
    'listener_id',
    'event_name',
    'url',
    'description',
  ],
  ...[
    'limit',
    'after',
    'before',
    'expand',
    'include',
    'exclude',
    'start_id',
    'end_id',
    'org_id',
    'workspace_id',
    'at',
    'format',
  ],
  ...['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'then', 'toJSON', 'length', '', 'a[b]', 'a.b', '0'],
];

const TEXTS = [
  ...[
    '',
    ' ',
    'text',
    '0',
    '-1',
    '1',
    '100',
    '1e400',
    'NaN',
    'true',
    'null',
    '[]',
    '{}',
    '__proto__',
    '\0',
    'a\0b',
    '\ud800',
    '\udfff',
  ],
  ...[
    '\u202e',
    '\r\n',
    'a\r\nb: c',
    '🙂',
    'é'.repeat(300),
    'x'.repeat(5_000),
    '%00',
    '../../etc/passwd',
    "'; drop table x; --",
    '$ne',
  ],
  ...[
    'http://127.0.0.1:1/',
    'http://[::1]/',
    'file:///etc/passwd',
    'javascript:1',
    'http://',
    'http://a\0b/',
    'ZGNfMQ',
    'AA==',
    '*',
  ],
];

const TYPES = [
  ...[
    'application/json',
    'application/json',
    'application/json',
    'application/x-www-form-urlencoded',
    'text/plain',
    '',
  ],
  ...[
    'multipart/form-data; boundary=B',
    'multipart/form-data',
    'application/json; charset=utf-7',
    'a/b+json',
    'x',
    '/',
    ';;;',
  ],
];

/** Generates the same requests for the same seed. */
export class RequestFuzz {
  /** Deploying costs a sandbox, so a few are enough. */
  private deploys = 20;

  constructor(
    private seed: number,
    private readonly known: Known,
  ) {}

  /** mulberry32 */
  number(): number {
    this.seed = (this.seed + 0x6d2b79f5) | 0;
    let t = Math.imul(this.seed ^ (this.seed >>> 15), 1 | this.seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  one<T>(of: readonly T[]): T {
    return of[Math.floor(this.number() * of.length)] as T;
  }

  next(): FuzzedRequest {
    const toEndpoint = this.number() < 0.25;
    const target = toEndpoint ? this.endpoint() : this.route();
    const { source, webhook } = this.known;
    const isKept = !toEndpoint && (target.includes(source) || target.includes(webhook));
    const method = this.one(isKept ? METHODS.filter((each) => each !== 'DELETE') : METHODS);
    const path = target + this.query();
    const fuzzed = { method, path, headers: this.headers(), body: this.body() };
    return this.number() < 0.05 ? { ...fuzzed, key: this.one(['x', 'x'.repeat(3_000), '%00', 'null']) } : fuzzed;
  }

  private endpoint(): string {
    const below = this.number() < 0.5 ? '' : `/${this.one(IDS)}`;
    return this.known.endpoint + below;
  }

  private route(): string {
    const { source, component, webhook } = this.known;
    const ids = this.number() < 0.5 ? [source, component, webhook] : IDS;
    return this.one(ROUTES).replaceAll(':id', () => this.one(ids)) + this.one(['', '', '', '/', '//', '&expand=event']);
  }

  private query(): string {
    if (this.number() < 0.4) return '';
    const pairs = Array.from({ length: this.many(5) }, () => `${this.one(FIELDS)}=${this.escaped(this.value())}`);
    return `?${pairs.join('&')}`;
  }

  private escaped(text: string): string {
    // Some values cannot be escaped or stay unescaped now and then, because hostile clients do not escape.
    if (this.number() < 0.2) return this.one(['%', '%zz', '%ff', '%00', '+', '=', '&', '?', '#', '[', '"']);
    return encodeURIComponent(Buffer.from(text).toString());
  }

  private headers(): Record<string, string> {
    const headers: Record<string, string> = {};
    const type = this.one(TYPES);
    if (type !== '') headers['content-type'] = type;
    const more: readonly (readonly [string, string])[] = [
      ['x-request-id', this.one(['a b', 'x'.repeat(300), '<script>', 'ok-1'])],
      ['x-sluice-position', this.one(['-1', '99999999999999999999', 'x', '00000000000000000001'])],
      ['x-forwarded-for', this.one(['1.2.3.4', 'x', ','.repeat(1_000), '::1'])],
      ['content-encoding', this.one(['gzip', 'br', 'deflate', 'identity', 'x'])],
      ['accept', this.one(['text/event-stream', '*/*', 'x'])],
      ['origin', 'https://evil.example'],
      ['cookie', 'a='.repeat(500)],
      ['traceparent', this.one(['junk', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`])],
      ['if-none-match', '*'],
      ['range', 'bytes=0-1'],
    ];
    for (const [name, value] of more) if (this.number() < 0.08) headers[name] = value;
    return headers;
  }

  private body(): string | Buffer | undefined {
    const kind = this.number();
    if (kind < 0.25) return undefined;
    if (kind < 0.7) return this.json();
    if (kind < 0.8) return this.json().slice(0, this.many(40));
    if (kind < 0.87)
      return Array.from({ length: this.many(8) }, () => `${this.one(FIELDS)}=${this.escaped(this.value())}`).join('&');
    if (kind < 0.92)
      return `--B\r\nContent-Disposition: form-data; name="${this.one(FIELDS)}"\r\n\r\n${this.value()}\r\n--B${this.one(['--', ''])}\r\n`;
    if (kind < 0.96) return Buffer.from(Array.from({ length: this.many(200) }, () => Math.floor(this.number() * 256)));
    return this.one([
      '['.repeat(3_000),
      '{"a":'.repeat(300),
      `"${'\\ud800'.repeat(50)}"`,
      '1e999999',
      '\ufeff{}',
      '"\\u0000"',
    ]);
  }

  private json(): string {
    const body: [string, unknown][] = Array.from({ length: this.many(6) }, () => [this.one(FIELDS), this.anything(3)]);
    if (this.deploys > 0 && this.number() < 0.02) {
      this.deploys--;
      body.push(['component_id', this.known.component]);
    }
    return JSON.stringify(this.number() < 0.9 ? Object.fromEntries(body) : this.anything(4));
  }

  private anything(depth: number): unknown {
    const kind = this.number();
    if (depth > 0 && kind < 0.15) return Array.from({ length: this.many(5) }, () => this.anything(depth - 1));
    if (depth > 0 && kind < 0.3)
      return Object.fromEntries(
        Array.from({ length: this.many(5) }, () => [this.one(FIELDS), this.anything(depth - 1)]),
      );
    if (kind < 0.8) return this.value();
    return this.one([null, true, false, 0, -1, 1.5, 1e308, Number.MAX_SAFE_INTEGER]);
  }

  private value(): string {
    const { source, webhook } = this.known;
    return this.number() < 0.25 ? this.one([source, webhook]) : this.one(TEXTS);
  }

  private many(most: number): number {
    return Math.floor(this.number() * (most + 1));
  }
}

const LINES = (endpoint: string): readonly string[] => [
  ...[
    `POST ${endpoint} HTTP/1.1`,
    'GET /v1/users/me HTTP/1.1',
    'GET  HTTP/1.1',
    'G\0T / HTTP/1.1',
    'GET / HTTP/9.9',
    'PRI * HTTP/2.0',
  ],
  ...[
    'CONNECT a:1 HTTP/1.1',
    'OPTIONS * HTTP/1.1',
    'GET http://a/v1 HTTP/1.1',
    `GET http://a${endpoint} HTTP/1.0`,
    'GET // HTTP/1.1',
  ],
  ...[
    `GET /${'x'.repeat(20_000)} HTTP/1.1`,
    '\x16\x03\x01',
    '',
    'GET',
    `${'G'.repeat(500)} / HTTP/1.1`,
    'GET /\x80\xff HTTP/1.1',
  ],
];

const HEADERS = [
  ...[
    'Host: a',
    'Host: a\r\nHost: b',
    'Content-Length: 5',
    'Content-Length: -1',
    'Content-Length: 99999999999999999999',
  ],
  ...[
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: xchunked',
    'Transfer-Encoding: chunked, identity',
    'Expect: 100-continue',
  ],
  ...[
    'Expect: x',
    'Connection: upgrade\r\nUpgrade: h2c',
    'Connection: close',
    `X: ${'y'.repeat(17_000)}`,
    ': x',
    'a b: c',
    'X:\0',
    ' folded',
  ],
  ...[
    'Content-Type: multipart/form-data; boundary=B',
    'Content-Type: application/json',
    'Trailer: x',
    'TE: trailers',
    '__proto__: x',
  ],
];

/** Bytes that no HTTP client sends: broken lines, lengths and chunks, and random bytes. */
export const bytesOf = (fuzz: RequestFuzz, { endpoint }: Known): Buffer => {
  const line = fuzz.one(LINES(endpoint));
  const headers = Array.from({ length: Math.floor(fuzz.number() * 4) }, () => fuzz.one(HEADERS));
  const body = fuzz.one([
    '',
    'abcde',
    '5\r\nabcde\r\n0\r\n\r\n',
    'zz\r\n',
    '5;x=y\r\nabcde\r\n0\r\nTrailer: x\r\n\r\n',
    'FFFFFFFFFFFFFFFF\r\n',
    '\0\0\0\0',
  ]);
  const end = fuzz.one(['\r\n', '\r\n', '\r\n', '\n', '\r', '']);
  return Buffer.from(`${[line, ...headers].join(end === '' ? '\r\n' : end)}${end}${end}${body}`, 'latin1');
};
