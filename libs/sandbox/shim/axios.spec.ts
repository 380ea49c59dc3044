import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import http from 'node:http';
import { type AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { type Readable } from 'node:stream';
import { inspect } from 'node:util';
import { axios } from './platform.js';

interface Echo {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const caught = async (promise: Promise<unknown>): Promise<Record<string, unknown>> =>
  promise.then(
    () => {
      throw new Error('the request did not fail');
    },
    (error: unknown) => error as Record<string, unknown>,
  );

describe('axios of the platform module', () => {
  let server: http.Server;
  let base: string;

  beforeAll(async () => {
    server = http.createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        const { pathname } = new URL(request.url ?? '/', 'http://x');
        if (pathname === '/hang') return;
        const status = Number(/^\/status\/(\d+)$/.exec(pathname)?.[1] ?? 200);
        response.writeHead(status, { 'content-type': 'application/json' });
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

  afterEach(() => {
    delete process.env['http_proxy'];
    delete process.env['HTTP_PROXY'];
    axios.interceptors.request.clear();
    axios.interceptors.response.clear();
  });

  const echo = async (config: Parameters<typeof axios>[1]): Promise<Echo> =>
    (await axios({}, { url: `${base}/echo`, ...config })) as Echo;

  it('is the library: nested params, PATCH with JSON, and its user agent', async () => {
    const { url, headers } = await echo({ method: 'PATCH', params: { filter: { a: 1 } }, data: { x: 1 } });
    expect(new URLSearchParams(url.split('?')[1]).get('filter[a]')).toBe('1');
    expect(headers['user-agent']).toMatch(/^axios\//);
  });

  it('sends FormData, and objects as multipart when the content type says so', async () => {
    const form = new FormData();
    form.append('name', 'value');
    form.append('file', new Blob(['content']), 'a.txt');
    const sent = await echo({ method: 'POST', data: form });
    expect(sent.headers['content-type']).toMatch(/^multipart\/form-data; ?boundary=/);
    expect(sent.body).toContain('filename="a.txt"');
    expect(sent.body).toContain('content');
    const made = await echo({
      method: 'POST',
      headers: { 'Content-Type': 'multipart/form-data' },
      data: { name: 'value' },
    });
    expect(made.body).toMatch(/name="name"\s+value/);
  });

  it('runs interceptors in their order, added before and after the first request, until they are ejected', async () => {
    const client = axios.create({ baseURL: base });
    const order: string[] = [];
    const adds = (name: string): number =>
      client.interceptors.request.use((config) => {
        order.push(name);
        config.headers.set(`x-${name}`, 'yes');
        return config;
      });
    const gone = adds('gone');
    client.interceptors.request.eject(gone);
    const first = adds('first');
    const second = adds('second');
    client.interceptors.response.use((response) => ({ ...response, data: { wrapped: response.data as Echo } }));
    const sent = (await client({}, { url: '/echo' })) as { wrapped: Echo };
    expect(sent.wrapped.headers).toMatchObject({ 'x-first': 'yes', 'x-second': 'yes' });
    expect(sent.wrapped.headers).not.toHaveProperty('x-gone');
    // As in axios, the interceptor that was added last runs first.
    expect(order).toEqual(['second', 'first']);
    client.interceptors.request.eject(second);
    const third = adds('third');
    expect(new Set([gone, first, second, third]).size).toBe(4);
    order.length = 0;
    await client({}, { url: '/echo' });
    expect(order).toEqual(['third', 'first']);
    client.interceptors.request.clear();
    order.length = 0;
    await client({}, { url: '/echo' });
    expect(order).toEqual([]);
    expect(await axios({}, { url: `${base}/echo` })).not.toHaveProperty('wrapped');
  });

  it('gives an interceptor the whole error, so that it may send the request again', async () => {
    const client = axios.create({ baseURL: base });
    client.interceptors.response.use(undefined, (error: unknown) =>
      axios(
        {},
        {
          url: `${base}/echo`,
          params: { after: (error as { config: { url: string } }).config.url },
          returnFullResponse: true,
        },
      ),
    );
    expect(await client({}, { url: '/status/503' })).toMatchObject({ url: '/echo?after=%2Fstatus%2F503' });
  });

  it('marks errors as those of axios, with status and code, without what holds secrets', async () => {
    const error = await caught(
      axios({}, { url: `${base}/status/422`, headers: { authorization: 'Bearer sk_secret' }, method: 'DELETE' }),
    );
    expect(error).toMatchObject({
      name: 'AxiosError',
      isAxiosError: true,
      code: 'ERR_BAD_REQUEST',
      status: 422,
      response: { status: 422, headers: { 'content-type': 'application/json' } },
    });
    expect(axios.isAxiosError(error)).toBe(true);
    expect(axios.isAxiosError(new Error('other'))).toBe(false);
    expect(Object.keys(error['response'] as object).sort()).toEqual(['data', 'headers', 'status', 'statusText']);
    const none = await caught(
      axios({}, { url: 'http://127.0.0.1:4/', headers: { authorization: 'Bearer sk_secret' } }),
    );
    expect(none).toMatchObject({ isAxiosError: true, code: 'ECONNREFUSED' });
    expect(inspect(none, { depth: 9, showHidden: true })).not.toContain('sk_secret');
  });

  it('keeps the message of an error whose body is a stream, which can be read', async () => {
    const exported: Record<string, { data?: unknown }> = {};
    const $ = { export: (name: string, value: object) => (exported[name] = value) };
    const error = await caught(axios($, { url: `${base}/status/500`, responseType: 'stream' }));
    expect(error['message']).toBe('Request failed with status code 500');
    expect(exported['debug']).toMatchObject({ status: 500, data: undefined });
    expect(JSON.parse(await readText((error['response'] as { data: Readable }).data))).toMatchObject({ method: 'GET' });
  });

  it('answers with a response that can be logged and copied', async () => {
    const response = (await axios(
      {},
      { url: `${base}/echo`, headers: { authorization: 'Bearer sk_secret' }, returnFullResponse: true },
    )) as { data: Echo; config: { url: string }; request: object };
    expect(response.config.url).toBe(`${base}/echo`);
    expect(response.request).toBeDefined();
    const { data: _, ...rest } = response;
    expect(rest).not.toHaveProperty('config');
    expect(rest).not.toHaveProperty('request');
    expect(inspect(rest, { depth: 9 })).not.toContain('sk_secret');
    expect(JSON.parse(JSON.stringify(response))).toMatchObject({ status: 200, data: { method: 'GET' } });
  });

  it('reads blobs', async () => {
    const blob = (await axios({}, { url: `${base}/echo`, responseType: 'blob' })) as Blob;
    expect(JSON.parse(await blob.text())).toMatchObject({ method: 'GET' });
  });

  it('ends with a time-out, and with a signal', async () => {
    expect(await caught(axios({}, { url: `${base}/hang`, timeout: 20 }))).toMatchObject({
      isAxiosError: true,
      code: 'ECONNABORTED',
      message: 'timeout of 20ms exceeded',
    });
    const aborting = new AbortController();
    const pending = caught(axios({}, { url: `${base}/hang`, signal: aborting.signal }));
    aborting.abort();
    expect(await pending).toMatchObject({ code: 'ERR_CANCELED' });
    expect(await caught(axios({}, { url: `${base}/hang`, signal: AbortSignal.timeout(20) }))).toMatchObject({
      code: 'ERR_CANCELED',
    });
  });

  it('ignores a proxy that the environment names', async () => {
    process.env['http_proxy'] = process.env['HTTP_PROXY'] = 'http://127.0.0.1:4';
    expect((await echo({})).url).toBe('/echo');
    expect(((await axios.create({})({}, { url: `${base}/echo` })) as Echo).url).toBe('/echo');
  });
});
