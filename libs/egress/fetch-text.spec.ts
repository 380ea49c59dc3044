import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { fetchText, rawFileUrl, type FetchError, type FetchLimits } from './fetch-text.js';
import { createEgress, type Egress } from './guarded-dispatcher.js';

describe('rawFileUrl', () => {
  const sha = 'a'.repeat(40);
  it.each([
    ['https://github.com/o/r/blob/main/a/b.mjs', 'https://raw.githubusercontent.com/o/r/main/a/b.mjs'],
    ['https://www.github.com/o/r/blob/v1/x%20y.js?plain=1', 'https://raw.githubusercontent.com/o/r/v1/x%20y.js'],
    ['https://github.com/o/r/raw/main/a.mjs', 'https://github.com/o/r/raw/main/a.mjs'],
    ['https://gitlab.com/g/s/p/-/blob/main/a.mjs', 'https://gitlab.com/g/s/p/-/raw/main/a.mjs'],
    ['https://git.example:8443/p/-/blob/main/a.mjs?ref=x', 'https://git.example:8443/p/-/raw/main/a.mjs'],
    [`https://gist.github.com/u/${sha.slice(0, 32)}`, `https://gist.githubusercontent.com/u/${sha.slice(0, 32)}/raw`],
    [
      `https://gist.github.com/u/${sha.slice(0, 32)}/${sha}`,
      `https://gist.githubusercontent.com/u/${sha.slice(0, 32)}/raw/${sha}`,
    ],
    ['https://evil.example/github.com/o/r/blob/main/a', 'https://evil.example/github.com/o/r/blob/main/a'],
    ['https://raw.githubusercontent.com/o/r/main/a.mjs', 'https://raw.githubusercontent.com/o/r/main/a.mjs'],
  ])('%s -> %s', (page, raw) => expect(rawFileUrl(new URL(page)).href).toBe(raw));
});

describe('fetchText', () => {
  let server: Server;
  let base: string;
  let egress: Egress;
  let handler: RequestListener;

  beforeEach(async () => {
    server = createServer((req, res) => handler(req, res));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    egress = createEgress({ allow: ['127.0.0.1'] });
  });

  afterEach(async () => {
    await egress.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const get = (url: string, more: Partial<FetchLimits> = {}): ReturnType<typeof fetchText> =>
    fetchText(url, { dispatcher: egress.dispatcher, ...more });
  const failure = (url: string, more: Partial<FetchLimits> = {}): Promise<FetchError> =>
    get(url, more).then(
      () => Promise.reject(new Error('it was fetched')),
      (error: FetchError) => error,
    );

  it('returns text, status and the final URL', async () => {
    handler = (req, res) => {
      if (req.url === '/a') res.writeHead(302, { location: 'b?x=1#y' }).end('moved');
      else res.end('export default "ü"');
    };
    expect(await get(`${base}/a`)).toEqual({
      finalUrl: `${base}/b?x=1`,
      status: 200,
      contentType: '',
      text: 'export default "ü"',
    });
  });

  it('follows three redirects and no more', async () => {
    let hops = 3;
    handler = (_, res) => {
      if (hops-- > 0) res.writeHead(301, { location: `/r${hops}` }).end();
      else res.end('here');
    };
    expect((await get(`${base}/`)).text).toBe('here');
    hops = 4;
    expect(await failure(`${base}/`)).toMatchObject({
      code: 'TOO_MANY_REDIRECTS',
      status: 301,
      finalUrl: `${base}/r1`,
    });
  });

  it('checks the address of each redirect', async () => {
    handler = (_, res) => void res.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
    expect(await failure(`${base}/`)).toMatchObject({
      code: 'EGRESS_REFUSED',
      finalUrl: 'http://169.254.169.254/latest/meta-data',
    });
  });

  it('refuses a redirect to another protocol', async () => {
    handler = (_, res) => void res.writeHead(302, { location: 'file:///etc/passwd' }).end();
    expect(await failure(`${base}/`)).toMatchObject({ code: 'UNSUPPORTED_URL', finalUrl: 'file:///etc/passwd' });
  });

  it.each(['file:///etc/passwd', 'git://github.com/o/r', 'ftp://a/b', 'data:text/plain,x', 'nonsense'])(
    'refuses %s',
    async (url) => expect(await failure(url)).toMatchObject({ code: 'UNSUPPORTED_URL', finalUrl: url }),
  );

  it('refuses a URL with a password and does not repeat it', async () => {
    const error = await failure('https://u:hunter2@example.com/x');
    expect(error.code).toBe('UNSUPPORTED_URL');
    expect(JSON.stringify([error.message, error.finalUrl])).not.toContain('hunter2');
  });

  it.each([404, 500, 304])('reports URL and status of a %i', async (status) => {
    handler = (_, res) => void res.writeHead(status).end();
    const error = await failure(`${base}/x`);
    expect(error).toMatchObject({ code: 'BAD_STATUS', status, finalUrl: `${base}/x` });
    expect(error.message).toBe(`${base}/x answered ${status}, expected 200`);
  });

  it('stops at the byte limit', async () => {
    handler = (_, res) => void res.end('x'.repeat(1001));
    expect(await failure(base, { maxBytes: 1000 })).toMatchObject({ code: 'TOO_LARGE' });
    expect((await get(base, { maxBytes: 1001 })).text).toHaveLength(1001);
  });

  it('accepts UTF-8 only', async () => {
    handler = (_, res) => void res.end(Buffer.from([0xff, 0xfe, 0x00]));
    expect(await failure(base)).toMatchObject({ code: 'NOT_TEXT', status: 200 });
  });

  it('aborts a trickling body at the time limit', async () => {
    handler = (_, res) => void res.writeHead(200).write('start');
    expect(await failure(base, { timeoutMs: 50 })).toMatchObject({
      code: 'TIMEOUT',
      status: 200,
      finalUrl: `${base}/`,
    });
  });

  // docs/reference/limits.md#component-fetch
  it('counts the look-up of the name and the wait for a connection into the time limit', async () => {
    const waiting: (() => void)[] = [];
    const resolver = () => new Promise<never>((_, reject) => waiting.push(() => reject(new Error('gone'))));
    const stuck = createEgress({ allow: ['127.0.0.1'], resolver, connectTimeoutMs: 60_000 });
    const narrow = createEgress({ allow: ['127.0.0.1'], connections: 1 });
    handler = (_, res) => void res.writeHead(200).write('never ends');
    const first = failure(base, { dispatcher: narrow.dispatcher, timeoutMs: 400 });
    try {
      const late = { code: 'TIMEOUT', status: undefined };
      const named = 'http://stuck.example/a';
      expect(await failure(named, { dispatcher: stuck.dispatcher, timeoutMs: 50 })).toMatchObject({
        ...late,
        finalUrl: named,
      });
      expect(waiting).toHaveLength(1);
      expect(await failure(base, { dispatcher: narrow.dispatcher, timeoutMs: 50 })).toMatchObject(late);
    } finally {
      for (const end of waiting) end();
      await first;
      await Promise.all([stuck.close(), narrow.close()]);
    }
  });

  it('ends with the signal of its caller', async () => {
    const aborter = new AbortController();
    let closed: Promise<unknown> | undefined;
    handler = (req, res) => {
      closed = new Promise((resolve) => req.once('close', resolve));
      res.writeHead(200).write('start');
      setImmediate(() => aborter.abort());
    };
    expect(await failure(base, { signal: aborter.signal })).toMatchObject({ code: 'NETWORK' });
    await closed;
  });

  it('reads many small chunks as one text', async () => {
    handler = (_, res) => {
      for (let i = 0; i < 40_000; i++) res.write('é');
      res.end();
    };
    expect((await get(base)).text).toBe('é'.repeat(40_000));
    expect(await failure(base, { maxBytes: 79_999 })).toMatchObject({ code: 'TOO_LARGE' });
    expect((await get(base, { maxBytes: 80_000 })).text).toHaveLength(40_000);
  });

  it('reports a network failure with its cause', async () => {
    handler = (req) => void req.socket.destroy();
    expect(await failure(base)).toMatchObject({ code: 'NETWORK', status: undefined });
  });
});
