import { describe, expect, it } from '@jest/globals';
import { endpointEvent, MAX_NESTING, TooDeep } from './endpoint-event.js';

const eventOf = async (body: string | Buffer, type?: string, query = ''): Promise<Record<string, unknown>> => {
  const text = await endpointEvent({
    method: 'POST',
    path: '/a/b',
    query,
    headers: type === undefined ? {} : { 'content-type': type },
    body: Buffer.from(body as string),
    clientIp: '127.0.0.1',
    url: 'http://h/h/k/a/b',
  });
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

  it('keeps a multipart body without a boundary, or cut short, as text', async () => {
    expect((await eventOf('abc', 'multipart/form-data'))['body']).toBe('abc');
    const cut = '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n1';
    expect((await eventOf(cut, 'multipart/form-data; boundary=B'))['body']).toBe(cut);
  });

  it(`refuses JSON nested deeper than ${MAX_NESTING}, not counting brackets in strings`, async () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    await expect(eventOf(nested(MAX_NESTING + 1), 'application/json')).rejects.toBeInstanceOf(TooDeep);
    expect((await eventOf(nested(MAX_NESTING), 'application/json'))['bodyRaw']).toBe(nested(MAX_NESTING));
    const text = JSON.stringify('['.repeat(1000) + '\\"');
    expect((await eventOf(text, 'application/json'))['bodyRaw']).toBe(text);
  });

  it('treats a __proto__ key of a form as data', async () => {
    const event = await eventOf('__proto__=x&a=1', 'application/x-www-form-urlencoded');
    expect(event['body']).toMatchObject({ a: '1' });
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });
});
