import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import {
  axios,
  cloneSafe,
  ConfigurationError,
  getFileStream,
  getFileStreamAndMetadata,
  jsonStringifySafe,
} from './platform.js';

interface Echo {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

describe('our platform module', () => {
  let server: http.Server;
  let base: string;

  beforeAll(async () => {
    server = http.createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        const { pathname } = new URL(request.url ?? '/', 'http://x');
        if (pathname === '/redirect') return void response.writeHead(302, { location: '/echo' }).end();
        if (pathname === '/hang') return;
        if (pathname === '/text') return void response.end('plain text');
        if (pathname === '/file.csv')
          return void response
            .writeHead(200, { 'content-type': 'text/csv; charset=utf-8', 'content-length': '3' })
            .end('a,b');
        const status = Number(/^\/status\/(\d+)$/.exec(pathname)?.[1] ?? 200);
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

  const echo = async (config: Parameters<typeof axios>[1], context: unknown = {}): Promise<Echo> =>
    (await axios(context, { url: `${base}/echo`, ...config })) as Echo;

  it('drops undefined keys, and moves the query into params, where explicit ones win', async () => {
    const { url, headers } = await echo({
      url: `${base}/echo?a=1&b=2&c=3&c=4`,
      params: { b: 'new', gone: undefined, nothing: null, date: new Date(0), list: [1, 2] },
      headers: { 'x-a': 'yes', 'x-gone': undefined },
    });
    const query = new URLSearchParams(url.split('?')[1]);
    expect([...query]).toEqual([
      ['a', '1'],
      ['b', 'new'],
      ['c[]', '3'],
      ['c[]', '4'],
      ['date', '1970-01-01T00:00:00.000Z'],
      ['list[]', '1'],
      ['list[]', '2'],
    ]);
    expect(headers['x-a']).toBe('yes');
    expect(headers).not.toHaveProperty('x-gone');
  });

  it('sends objects as JSON or as a form, and text and bytes unchanged', async () => {
    const json = await echo({ method: 'POST', data: { a: 1, gone: undefined } });
    expect(json).toMatchObject({ method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } });
    const form = await echo({
      method: 'put',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      data: { a: 'x y' },
    });
    expect(form).toMatchObject({ method: 'PUT', body: 'a=x+y' });
    expect((await echo({ method: 'POST', data: 'text' })).body).toBe('text');
    expect((await echo({ method: 'POST', data: Buffer.from('bytes') })).body).toBe('bytes');
    expect((await echo({ method: 'POST', data: Readable.from(['str', 'eam']) })).body).toBe('stream');
  });

  it('supports baseURL, auth, create and the other forms of its context', async () => {
    const client = axios.create({
      baseURL: `${base}/`,
      headers: { 'x-default': '1' },
      auth: { username: 'u', password: 'p' },
    });
    const { url, headers } = (await client(undefined, { url: '/echo', headers: { 'x-own': '2' } })) as Echo;
    expect(url).toBe('/echo');
    expect(headers).toMatchObject({ 'x-default': '1', 'x-own': '2', authorization: 'Basic dTpw' });
  });

  it('returns data, or the response on request', async () => {
    expect(await axios({}, { url: `${base}/text` })).toBe('plain text');
    expect(await axios({}, { url: `${base}/text`, responseType: 'arraybuffer' })).toEqual(Buffer.from('plain text'));
    expect(await readText((await axios({}, { url: `${base}/text`, responseType: 'stream' })) as Readable)).toBe(
      'plain text',
    );
    expect(await axios({}, { url: `${base}/echo`, returnFullResponse: true })).toMatchObject({
      status: 200,
      headers: { 'x-served': 'yes' },
      data: { method: 'GET' },
    });
    expect(await echo({ url: `${base}/redirect` })).toMatchObject({ url: '/echo' });
  });

  it('turns a response other than 2xx into an error with the body as message, and exports it', async () => {
    const exported: Record<string, unknown> = {};
    const $ = { export: (name: string, value: unknown) => (exported[name] = value) };
    const error: unknown = await axios($, { url: `${base}/status/404`, debug: true }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(Error);
    expect(JSON.parse((error as Error).message)).toMatchObject({ url: '/status/404' });
    expect(error).toMatchObject({ response: { status: 404, data: { method: 'GET' } } });
    expect(error).not.toHaveProperty('config');
    expect(error).not.toHaveProperty('response.config');
    expect(exported).toMatchObject({ debug: { status: 404 }, debug_config: { url: `${base}/status/404` } });
    expect(await axios({}, { url: `${base}/status/404`, validateStatus: () => true })).toMatchObject({ method: 'GET' });
  });

  it('names the cause when there is no response', async () => {
    await expect(axios({}, { url: `${base}/hang`, timeout: 20 })).rejects.toMatchObject({ code: 'ECONNABORTED' });
    await expect(axios({}, { url: 'http://127.0.0.1:4/' })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(axios({}, { url: base, body: 'x' })).rejects.toThrow('use "data"');
    await expect(axios({}, { url: base }, {})).rejects.toThrow('not supported');
  });

  it('copies values that JSON cannot represent', () => {
    const circular: Record<string, unknown> = {
      n: 5n,
      f: () => 1,
      list: [undefined, new Set([1])],
      map: new Map([['k', 1]]),
    };
    circular.self = circular;
    expect(cloneSafe(circular)).toEqual({ n: '5', f: undefined, list: [null, [1]], map: { k: 1 }, self: '[Circular]' });
    expect(jsonStringifySafe({ e: new TypeError('m'), d: new Date(0) })).toContain('"message":"m"');
  });

  it('reads files of /tmp and of URLs, with their metadata', async () => {
    const dir = await mkdtemp(path.join(tmpdir(), 'sluice-shim-'));
    const file = path.join(dir, 'x.json');
    await writeFile(file, '{}');
    const own = await getFileStreamAndMetadata(file);
    expect(own.metadata).toMatchObject({ name: 'x.json', size: 2, contentType: 'application/json' });
    expect(await readText(own.stream)).toBe('{}');
    await rm(dir, { recursive: true });
    const remote = await getFileStreamAndMetadata(`${base}/file.csv`);
    expect(remote.metadata).toEqual({ name: 'file.csv', size: 3, contentType: 'text/csv' });
    expect(await readText(await getFileStream(`${base}/file.csv`))).toBe('a,b');
    await readText(remote.stream);
  });

  it('has an error for configuration', () => {
    expect(new ConfigurationError('m')).toMatchObject({ name: 'ConfigurationError', message: 'm', exposeStack: false });
  });
});
