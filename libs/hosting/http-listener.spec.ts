import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { HttpListener } from './http-listener.js';

const open = async (): Promise<{
  front: HttpListener;
  agent: Agent;
  status: (path: string) => Promise<number | undefined>;
}> => {
  const front = await HttpListener.listen('127.0.0.1', 0);
  const { port } = front;
  const agent = new Agent({ keepAlive: true });
  const status = (path: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port, path, agent }, (res) => {
        res.resume().once('end', () => resolve(res.statusCode));
      }).once('error', reject);
    });
  return { front, agent, status };
};

const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n';

/** Sends these bytes, and resolves with all that arrives until the server ends the connection. */
const exchange = (port: number, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.once('error', reject);
    socket.once('close', () => resolve(Buffer.concat(chunks).toString()));
  });

describe('HttpListener', () => {
  // docs/reference/rest-api.md#starting
  it('answers 503 until it gets a handler', async () => {
    const { front, agent, status } = await open();
    expect(await status('/')).toBe(503);
    front.serve((_req, res) => res.end());
    expect(await status('/')).toBe(200);
    await front.close(60_000);
    agent.destroy();
  });

  it('lets a request finish on close, and ends its kept-alive connection right after it', async () => {
    const { front, agent, status } = await open();
    const arrived = new Promise<() => void>((resolve) => {
      front.serve((_req, res) => resolve(() => void res.end()));
    });
    const answered = status('/slow');
    const answer = await arrived;
    const closed = front.close(600_000);
    answer();
    expect(await answered).toBe(200);
    await closed; // in less than the time-out of this spec
    agent.destroy();
  });

  // docs/reference/rest-api.md#shutting-down
  it('answers a request sent on a kept-alive connection during close, and announces that the connection ends', async () => {
    const { front, agent, status } = await open();
    front.serve((_req, res) => res.end());
    expect(await status('/first')).toBe(200);
    const closed = front.close(600_000);
    expect(await status('/second')).toBe(200);
    await closed;
    await expect(status('/third')).rejects.toThrow(/ECONNREFUSED/);
    agent.destroy();
  });

  it('cuts unfinished requests when the grace period is over', async () => {
    const { front, agent, status } = await open();
    const arrived = new Promise<void>((resolve) => {
      front.serve(() => resolve());
    });
    const answered = status('/never');
    const cut = expect(answered).rejects.toThrow();
    await arrived;
    await front.close(1);
    await cut;
    agent.destroy();
  });

  it('ends only the request for which a handler throws', async () => {
    const broken: unknown[] = [];
    const front = await HttpListener.listen('127.0.0.1', 0, (error) => broken.push(error));
    front.serve((_req, res) => {
      res.setHeader('trailer', 'x').setHeader('content-length', '1').end('x');
    });
    const answer = await exchange(front.port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 500 [\s\S]*"code":"internal_error"/);
    expect(broken).toMatchObject([{ code: 'ERR_HTTP_TRAILER_INVALID' }]);
    await front.close(1);
  });

  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400, 'bad_request'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400, 'bad_request'],
    ['length and chunks', `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n${CHUNKED}0\r\n\r\n`, 400, 'bad_request'],
    [
      'headers above the limit',
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    ['a line above the limit', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431, 'headers_too_large'],
    [
      'an expectation',
      'POST / HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\nConnection: close\r\n\r\n',
      417,
      'expectation_failed',
    ],
    ['a tunnel', 'CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'method_not_allowed'],
    ['a broken chunk', `POST / HTTP/1.1\r\nHost: a\r\n${CHUNKED}zz\r\n`, 400, 'bad_request'],
    ['a slow client', 'GET / HTTP/1.1\r\nHost: a\r\nX:', 408, 'request_timeout'],
  ])('answers %s with the error body, and ends the connection', async (_name, text, status, code) => {
    const timeouts = {
      keepAliveTimeout: 5_000,
      headersTimeout: 50,
      requestTimeout: 100,
      connectionsCheckingInterval: 20,
    };
    const front = await HttpListener.listen('127.0.0.1', 0, undefined, timeouts);
    // The handler waits for the body, so a broken body meets a waiting handler.
    front.serve((req, res) => void req.resume().once('end', () => res.end()));
    const [head = '', body = ''] = (await exchange(front.port, text)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/content-type: application\/json/i);
    expect(JSON.parse(body)).toEqual({ error: expect.any(String), code });
    await front.close(1);
  });

  it('treats an absolute URL as the path at its host', async () => {
    const { front, agent } = await open();
    front.serve((req, res) => res.end(`${req.headers.host ?? ''} ${req.url ?? ''}`));
    const ask = (target: string) =>
      exchange(front.port, `GET ${target} HTTP/1.1\r\nHost: other\r\nConnection: close\r\n\r\n`);
    expect(await ask('http://a.example:80/h/k?x=1')).toContain('a.example:80 /h/k?x=1');
    expect(await ask('http://a.example')).toContain('a.example /');
    expect(await ask('http://u:p@a.example?x')).toContain('a.example /?x');
    expect(await ask('/plain')).toContain('other /plain');
    await front.close(1);
    agent.destroy();
  });

  it('rejects with the error of the system when the port is in use', async () => {
    const { front, agent } = await open();
    await expect(HttpListener.listen('127.0.0.1', front.port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await front.close(1);
    agent.destroy();
  });
});
