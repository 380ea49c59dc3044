import { describe, expect, it } from '@jest/globals';
import { parse as parseQuery } from 'node:querystring';
import { bodyRangeOf, parsedEvent, wholeEvent } from '#libs/component-model/http-event.js';
import { EVENT_BYTES } from '#libs/stream-log/record-limits.js';
import { type EndpointEvent, endpointEvent, type EndpointRequest, MAX_NESTING } from './endpoint-event.js';
import { RefusedRequest } from './refused-request.js';

const requestOf = (body: string | Buffer, type?: string, query = ''): EndpointRequest => ({
  method: 'POST',
  path: '/a/b',
  query,
  headers: type === undefined ? {} : { 'content-type': type },
  body: Buffer.from(body as string),
  clientIp: '127.0.0.1',
  url: 'http://h/h/k/a/b',
});

const eventOf = async (...request: Parameters<typeof requestOf>): Promise<Record<string, unknown>> => {
  const { text } = await endpointEvent(requestOf(...request), false);
  return JSON.parse(text) as Record<string, unknown>;
};

describe('event of an HTTP source', () => {
  it('has all fields of the interface', async () => {
    expect(await eventOf('{"a": 1}', 'application/json', 'x=1&y=2&y=3')).toEqual({
      method: 'POST',
      path: '/a/b',
      query: { x: '1', y: ['2', '3'] },
      headers: { 'content-type': 'application/json' },
      bodyRaw: '{"a": 1}',
      body: { a: 1 },
      client_ip: '127.0.0.1',
      url: 'http://h/h/k/a/b',
    });
  });

  it.each<[string, string | Buffer, string | undefined, unknown]>([
    ['no body', '', undefined, {}],
    ['JSON', '[1,"é"]', 'application/json; charset=utf-8', [1, 'é']],
    ['a JSON scalar', '5', 'application/json', 5],
    ['a +json type', '{"a":1}', 'application/vnd.api+json', { a: 1 }],
    ['bad JSON stays text', '{"a":', 'application/json', '{"a":'],
    ['JSON under text/plain', '{"Type":"Notification"}', 'text/plain; charset=UTF-8', { Type: 'Notification' }],
    ['JSON without a type', '{"a":1}', undefined, { a: 1 }],
    ['other text', 'hello', 'text/plain', 'hello'],
    ['a number as text stays text', '5', 'text/plain', '5'],
    ['a form', 'a=1&b=x%20y&a=2', 'application/x-www-form-urlencoded', { a: ['1', '2'], b: 'x y' }],
    ['JSON text posted as a form stays text', '{"a":1}', 'application/x-www-form-urlencoded', '{"a":1}'],
  ])('%s', async (_name, body, type, expected) => {
    const event = await eventOf(body, type);
    expect(event['body']).toEqual(expected);
    expect(event['bodyRaw']).toBe(body.toString());
  });

  it('keeps bytes that are not text, as base64', async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0, 1]);
    const event = await eventOf(bytes, 'application/octet-stream');
    expect(event).toMatchObject({ body: bytes.toString('base64'), isBase64Encoded: true });
  });

  it('turns multipart into an object', async () => {
    const body = [
      '--B',
      'Content-Disposition: form-data; name="a"',
      '',
      '1',
      '--B',
      'Content-Disposition: form-data; name="f"; filename="x.txt"',
      'Content-Type: text/plain',
      '',
      'hi',
      '--B--',
      '',
    ].join('\r\n');
    const event = await eventOf(body, 'multipart/form-data; boundary=B');
    expect(event['body']).toEqual({ a: '1', f: { filename: 'x.txt', mimetype: 'text/plain', content: 'aGk=' } });
  });

  it('makes a list of the multipart fields and files of one name, in their order', async () => {
    const part = (head: string, text: string): string =>
      `--B\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`;
    const body = [
      part('name="tag"', 'one'),
      part('name="once"', 'x'),
      part('name="tag"; filename="t.txt"', 'file'),
      part('name="tag"', ''),
      part('name="__proto__"', 'a'),
      part('name="__proto__"', 'b'),
      part('name="file"; filename="1"', '1'),
      part('name="file"; filename="2"', '2'),
      '--B--\r\n',
    ].join('');
    const event = await eventOf(body, 'multipart/form-data; boundary=B');
    const fileOf = (filename: string, content: string): object => ({
      filename,
      mimetype: expect.any(String),
      content: Buffer.from(content).toString('base64'),
    });
    const { ['__proto__']: proto, ...rest } = Object.fromEntries(Object.entries(event['body'] as object)) as Record<
      string,
      unknown
    >;
    expect(proto).toEqual(['a', 'b']);
    expect(rest).toEqual({
      tag: ['one', fileOf('t.txt', 'file'), ''],
      once: 'x',
      file: [fileOf('1', '1'), fileOf('2', '2')],
    });
  });

  it('keeps a multipart body as text when it has no boundary or is truncated', async () => {
    expect((await eventOf('abc', 'multipart/form-data'))['body']).toBe('abc');
    const cut = '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n1';
    expect((await eventOf(cut, 'multipart/form-data; boundary=B'))['body']).toBe(cut);
  });

  it(`refuses JSON nested deeper than ${MAX_NESTING}, not counting brackets in strings`, async () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    await expect(eventOf(nested(MAX_NESTING + 1), 'application/json')).rejects.toThrow(
      /257 levels deep, the limit is 256/,
    );
    expect((await eventOf(nested(MAX_NESTING), 'application/json'))['bodyRaw']).toBe(nested(MAX_NESTING));
    const text = JSON.stringify('['.repeat(1000) + '\\"');
    expect((await eventOf(text, 'application/json'))['bodyRaw']).toBe(text);
  });

  it('treats a __proto__ key of a form as data', async () => {
    const text = (name: string): string => JSON.stringify(JSON.parse(`{"${name}":"x","a":"1"}`));
    const form = await eventOf('__proto__=x&a=1', 'application/x-www-form-urlencoded', '__proto__=x&a=1');
    expect([JSON.stringify(form['body']), JSON.stringify(form['query'])]).toEqual([
      text('__proto__'),
      text('__proto__'),
    ]);
    const parts = [part('__proto__', 'x'), part('a', '1'), '--B--\r\n'].join('');
    const multipart = await eventOf(parts, 'multipart/form-data; boundary=B');
    expect(JSON.stringify(multipart['body'])).toBe(text('__proto__'));
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  it.each([4_095, 8_192, 8_193, 300_000])(
    'checks JSON of %i characters as JSON.parse does, whatever the length',
    async (length) => {
      const long = JSON.stringify('x'.repeat(length));
      for (const [text, body] of [
        [`{"a":${long}}`, { a: 'x'.repeat(length) }],
        [`{"a":${long},}`, `{"a":${long},}`],
        [`[${long}`, `[${long}`],
      ] as const) {
        const event = await eventOf(text, 'application/json');
        expect([event['body'], event['bodyRaw']]).toEqual([body, text]);
      }
    },
  );

  it('keeps surrogate pairs whole where a long text is split', async () => {
    const text = `x${'🙂'.repeat(700_000)}`;
    const event = await eventOf(text, 'text/plain');
    expect(event['bodyRaw'] === text).toBe(true);
  });
});

const part = (name: string, value: string): string =>
  `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

const fields = (count: number): Record<string, string> => ({
  'application/x-www-form-urlencoded': Array.from({ length: count }, () => 'a=1').join('&'),
  'multipart/form-data; boundary=B': `${part('a', '1').repeat(count)}--B--\r\n`,
});

describe('fields of a request', () => {
  it.each(Object.keys(fields(0)))('of type %s may be 10,000 at most', async (type) => {
    expect(await eventOf(fields(10_000)[type] ?? '', type)).toMatchObject({ body: { a: expect.anything() } });
    const refused = eventOf(fields(10_001)[type] ?? '', type);
    await expect(refused).rejects.toThrow(/1000[01] fields/);
    await expect(refused).rejects.toMatchObject({ name: 'RefusedRequest', code: 'too_many_fields' });
  });

  it('of a query may be 10,000, and none is lost', async () => {
    const query = (count: number): string => Array.from({ length: count }, (_, i) => `k${i}=${i}`).join('&');
    expect(Object.keys((await eventOf('', undefined, query(10_000)))['query'] as object)).toHaveLength(10_000);
    await expect(eventOf('', undefined, query(10_001))).rejects.toThrow(
      'the query has 10001 fields, the limit is 10000',
    );
    // Control: the parser's own limit drops the rest silently.
    expect(Object.keys(parseQuery(query(10_001)))).toHaveLength(1_000);
  });

  it.each([
    ['names that differ', (i: number) => `k${i}=${i}`],
    ['one name', (i: number) => `a=${i}`],
    ['names that are indexes far apart', (i: number) => `${i * 400_000}=${i}`],
    ['escapes', (i: number) => `%6b${i}=%c3%a9`],
  ])('may all be given, and none is lost: %s', async (_name, field) => {
    const body = Array.from({ length: 10_000 }, (_, i) => field(i)).join('&');
    for (const type of ['application/x-www-form-urlencoded', 'application/x-www-form-urlencoded; charset=latin1']) {
      const values = Object.values((await eventOf(body, type))['body'] as object).flat();
      expect(values).toHaveLength(10_000);
    }
  });

  it('count files too, and a name or boundary may have any length', async () => {
    const file = '--B\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\n1\r\n';
    const type = 'multipart/form-data; boundary=B';
    await expect(eventOf(`${file.repeat(10_001)}--B--\r\n`, type)).rejects.toBeInstanceOf(RefusedRequest);
    const boundary = 'b'.repeat(71);
    const body = `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--${boundary}--\r\n`;
    expect((await eventOf(body, `multipart/form-data; boundary=${boundary}`))['body']).toBe(body);
  });
});

describe('a hostile body', () => {
  /** Turns of the event loop for other work while the body was read. */
  const turnsOf = async (body: string, type: string): Promise<number> => {
    let turns = 0;
    let running = true;
    const next = (): void => {
      turns++;
      if (running) setImmediate(next);
    };
    setImmediate(next);
    await eventOf(body, type).catch((error: unknown) => {
      if (!(error instanceof RefusedRequest)) throw error;
    });
    running = false;
    return turns;
  };
  const KB = 1024;

  it.each([
    ['brackets', '['.repeat(256 * KB) + ']'.repeat(256 * KB), 'application/json'],
    ['brackets that stay open', '['.repeat(512 * KB), 'application/json'],
    ['many shapes', `[${Array.from({ length: 40_000 }, (_, i) => `{"k${i}":0}`).join()}]`, 'application/json'],
    ['escapes', `"${'\\u0041'.repeat(85 * KB)}"`, 'application/json'],
    ['almost a boundary', `${part('a', '\r\n--'.repeat(120 * KB))}--B--`, 'multipart/form-data; boundary=B'],
  ])('yields to other work: %s', async (_name, body, type) => {
    expect(await turnsOf(body, type)).toBeGreaterThanOrEqual(4);
    // Control: a short body is read at once.
    expect(await turnsOf('{"a":1}', 'application/json')).toBeLessThanOrEqual(1);
  });

  it('stays text when it ends within a file', async () => {
    const cut = '--B\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\nabc';
    expect((await eventOf(cut, 'multipart/form-data; boundary=B'))['body']).toBe(cut);
  });

  it.each([
    ['parts without a name', '--B\r\n\r\n\r\n'.repeat(50 * KB)],
    ['headers of a part', `--B\r\n${'a:\r\n'.repeat(100 * KB)}`],
  ])('is given up early: %s', async (_name, body) => {
    expect(await turnsOf(body, 'multipart/form-data; boundary=B')).toBeLessThanOrEqual(2);
  });
});

describe('an event that holds its body once', () => {
  const both = async (request: EndpointRequest): Promise<readonly [once: EndpointEvent, full: string]> => {
    const { text: full } = await endpointEvent(request, false);
    return [await endpointEvent(request, true), full];
  };
  /** The event of a component, from the text that its child process parses. */
  const seenOf = ({ text, bodyAt }: EndpointEvent): string => {
    return JSON.stringify(parsedEvent(Buffer.from(text).toString('utf8'), bodyRangeOf(text, bodyAt)));
  };

  it.each([
    ['an object', '{"a":1,"b":[true,null,"x"]}'],
    ['unicode', '{"é€":"🙂\u2028\u2029\u00a0\ufeff"}'],
    ['escapes', '{"a":"\\u0000\\"\\\\\\/\\ud83d\\ude00\\ud800"}'],
    ['white space', ' \r\n\t{ "a" :\t[ 1 ,2 ]\n} \n'],
    ['duplicate keys', '{"a":1,"b":2,"a":3}'],
    ['keys of prototypes', '{"__proto__":{"x":1},"constructor":2}'],
    ['keys of events', '{"bodyRaw":"","body":{"bodyRaw":"x","body":1}}'],
    ['keys that are numbers', '{"b":1,"2":2,"1":1}'],
    ['large numbers', '[12345678901234567890, 1e400, -0, 0.1e-7]'],
    ['a scalar', '"text"'],
    ['the largest body', `["${'€'.repeat(1024 * 1024 - 4)}"]`],
  ])('is the same as a whole and as run sees it: %s', async (_name, body) => {
    const [once, full] = await both(requestOf(body, 'application/json', 'q="body":'));
    expect(once.bodyAt).toBeDefined();
    expect(once.text.length).toBeLessThan(full.length);
    expect(wholeEvent(once.text, bodyRangeOf(once.text, once.bodyAt)) === full).toBe(true);
    expect(seenOf(once) === JSON.stringify(JSON.parse(full))).toBe(true);
    expect(Buffer.byteLength(full)).toBeLessThan(EVENT_BYTES);
  });

  it.each<[string, string | Buffer, string | undefined]>([
    ['nothing', '', 'application/json'],
    ['text', 'text', 'text/plain'],
    ['bad JSON', '{"a":', 'application/json'],
    ['JSON with a byte order mark', '\ufeff{"a":1}', 'application/json'],
    ['a form', 'a=1', 'application/x-www-form-urlencoded'],
    ['multipart', `${part('a', '1')}--B--\r\n`, 'multipart/form-data; boundary=B'],
    ['bytes', Buffer.from([255, 0]), undefined],
    ['JSON that is too long to be quoted at once', `["${'x'.repeat(1024 * 1024 - 3)}"]`, undefined],
  ])('is none for %s', async (_name, body, type) => {
    const [once, full] = await both(requestOf(body, type));
    expect([once.bodyAt, once.text === full]).toEqual([undefined, true]);
  });
});
