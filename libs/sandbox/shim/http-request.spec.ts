import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import http from 'node:http';
import { type AddressInfo } from 'node:net';
import { type ConfiguredRequest } from '#libs/component-model/http-request.js';
import { type ChangedRequest, send } from './http-request.js';

interface Echo {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

describe('a configured request', () => {
  let server: http.Server;
  let base: string;

  beforeAll(async () => {
    server = http.createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        const status = Number(/^\/status\/(\d+)$/.exec(request.url ?? '')?.[1] ?? 200);
        if (request.url === '/text') return void response.end('plain');
        if (request.url === '/own') return void response.end('{"data":[1],"status":"done"}');
        response.writeHead(status, { 'content-type': 'application/json', 'x-served': 'yes' });
        response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const sent = async (request: { [K in keyof ConfiguredRequest]?: ConfiguredRequest[K] | undefined }): Promise<Echo> =>
    (await send({ url: `${base}/echo`, ...request })) as Echo;

  it('has method, query, headers, in the order and number given', async () => {
    const echo = await sent({
      method: 'PATCH',
      url: `${base}/echo?kept=a%20b`,
      params: [
        { name: 'a', value: 1 },
        { name: 'a', value: 'two & more' },
        { name: '', value: 'unnamed' },
      ],
      headers: [
        { name: 'X-One', value: 'first' },
        { name: 'x-one', value: 'second' },
        { name: 'x-none', value: null },
      ],
    });
    expect(echo.method).toBe('PATCH');
    const query = [...new URL(echo.url, base).searchParams];
    expect(query).toEqual([
      ['kept', 'a b'],
      ['a', '1'],
      ['a', 'two & more'],
    ]);
    expect(echo.headers).toMatchObject({ 'x-one': 'first, second', 'x-none': '' });
    expect((await sent({})).method).toBe('GET');
  });

  it.each<[ConfiguredRequest['auth'], string | undefined]>([
    [{ type: 'basic', username: 'u', password: 'p' }, 'Basic dTpw'],
    [{ type: 'bearer', token: 'tok' }, 'Bearer tok'],
    [{ type: 'none', token: 'tok' }, undefined],
    [null, undefined],
  ])('with auth %j sends %j', async (auth, header) => {
    expect((await sent({ auth })).headers['authorization']).toBe(header);
  });

  it.each<[ConfiguredRequest['body'], string, string]>([
    [{ mode: 'raw', raw: '{"a":1', contentType: 'application/json' }, '{"a":1', 'application/json'],
    [{ type: 'raw', raw: 'text' }, 'text', 'text/plain'],
    [{ raw: 'text' }, 'text', 'text/plain'],
    [{ fields: [{ name: 'a', value: 'x y' }] }, '{"a":"x y"}', 'application/json'],
    [
      { type: 'fields', contentType: 'application/x-www-form-urlencoded', fields: [{ name: 'a', value: 'x y' }] },
      'a=x+y',
      'application/x-www-form-urlencoded',
    ],
  ])('with body %j sends %j as %s', async (body, text, type) => {
    const echo = await sent({ method: 'POST', body });
    expect(echo.body).toBe(text);
    expect(echo.headers['content-type']).toBe(type);
  });

  const made = async (request: ChangedRequest): Promise<Echo> =>
    (await send({ url: `${base}/echo`, method: 'POST', ...request }, false)) as Echo;

  // docs/reference/component-model.md#http-request-changed
  it.each<[string, unknown, string, string]>([
    ['an object', { a: [1], type: 'order' }, '{"a":[1],"type":"order"}', 'application/json'],
    ['an empty object', {}, '{}', 'application/json'],
    [
      'an object with a type of the form and no content',
      { type: 'raw', id: 1 },
      '{"type":"raw","id":1}',
      'application/json',
    ],
    ['a list', [1, { b: 2 }], '[1,{"b":2}]', 'application/json'],
    ['a number', 7, '7', 'application/json'],
    ['a text', 'plain', 'plain', 'text/plain'],
    ['a text of JSON', '{"a":1}', '{"a":1}', 'text/plain'],
    ['bytes', Buffer.from('bytes'), 'bytes', 'application/octet-stream'],
    ['a form', new URLSearchParams({ a: 'x y' }), 'a=x+y', 'application/x-www-form-urlencoded'],
    ['a body as the form writes it', { mode: 'raw', raw: 'r', contentType: 'text/x' }, 'r', 'text/x'],
    ['a raw object', { type: 'raw', raw: { a: 1 } }, '{"a":1}', 'application/json'],
    ['fields by name', { type: 'fields', fields: { a: 1, b: { c: 2 } } }, '{"a":"1","b":{"c":2}}', 'application/json'],
  ])('sends a body that the component made: %s', async (_, body, text, type) => {
    const echo = await made({ body });
    expect(echo.body).toBe(text);
    expect(echo.headers['content-type']).toBe(type);
  });

  it.each<[string, unknown]>([
    ['an object', { a: '1', b: ['2', 3], none: undefined, nothing: null }],
    [
      'a list of the form',
      [
        { name: 'a', value: '1' },
        { name: 'b', value: '2' },
        { name: 'b', value: 3 },
      ],
    ],
    [
      'a list of pairs',
      [
        ['a', '1'],
        ['b', '2'],
        ['b', '3'],
      ],
    ],
    ['URLSearchParams', new URLSearchParams('a=1&b=2&b=3')],
    ['a list with names beside', Object.assign([{ name: 'a', value: 1 }], { b: [2, 3] })],
  ])('takes params and headers as %s', async (_, pairs) => {
    const echo = await made({ params: pairs, headers: pairs });
    expect([...new URL(echo.url, base).searchParams]).toEqual([
      ['a', '1'],
      ['b', '2'],
      ['b', '3'],
    ]);
    expect(echo.headers).toMatchObject({ a: '1', b: '2, 3' });
  });

  it('takes a URL, a method in small letters, Headers, and auth without a type', async () => {
    const echo = await made({
      url: new URL(`${base}/items/7`),
      method: 'put',
      headers: new Headers({ 'X-A': 'b' }),
      auth: { username: 'u', password: 'p' },
    });
    expect(echo).toMatchObject({
      method: 'PUT',
      url: '/items/7',
      headers: { 'x-a': 'b', authorization: 'Basic dTpw' },
    });
    expect((await made({ auth: { token: 't' } })).headers['authorization']).toBe('Bearer t');
    const own = { headers: { Authorization: 'own' }, auth: { type: 'basic', username: 'u' } };
    expect((await made(own)).headers['authorization']).toBe('own');
  });

  it.each([undefined, null, '', 7])('refuses the url %j', async (url) => {
    await expect(send({ url })).rejects.toThrow('http_request: url must be a text or URL');
  });

  it('sends fields as a form of several parts', async () => {
    const body = { contentType: 'multipart/form-data', fields: [{ name: 'a', value: '1' }] };
    const echo = await sent({ method: 'POST', body });
    expect(echo.headers['content-type']).toMatch(/^multipart\/form-data; *boundary=/);
    expect(echo.body).toContain('name="a"');
  });

  it('resolves to the body, with data, status and headers on it that its JSON does not show', async () => {
    const result = (await send({ url: `${base}/echo` })) as Echo & { data: unknown; status: number; headers: unknown };
    expect(result.data).toBe(result);
    expect(result.status).toBe(200);
    expect(Object.keys(result)).toEqual(['method', 'url', 'headers', 'body']);
    expect(await send({ url: `${base}/text` })).toBe('plain');
    const own = (await send({ url: `${base}/own` })) as object;
    expect(own).toEqual({ data: [1], status: 'done' });
    expect(Object.getOwnPropertyDescriptor(own, 'headers')).toMatchObject({
      enumerable: false,
      value: expect.objectContaining({ connection: expect.any(String) }),
    });
  });

  it('rejects for any status but 2xx like the axios of the platform', async () => {
    const error = await send({ url: `${base}/status/404` }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ isAxiosError: true, response: { status: 404, headers: { 'x-served': 'yes' } } });
    expect(error).not.toHaveProperty('config');
  });
});
