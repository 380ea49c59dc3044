import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ask, type Asked, askForStream, askForText } from './api.js';

let http: Server;
let url = '';
let asked: IncomingMessage[] = [];
let answers: ((response: ServerResponse) => void)[] = [];
let pauses: number[] = [];

beforeEach(async () => {
  [asked, answers, pauses] = [[], [], []];
  http = createServer((request, response) => {
    asked.push(request);
    request.resume();
    (answers.shift() ?? ((last) => last.end('{"data":1}')))(response);
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => http.once('listening', listening));
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
});
afterEach(() => {
  http.closeAllConnections();
  http.close();
});

const pause = async (ms: number): Promise<void> => void pauses.push(ms);
const send = (request: Asked): Promise<unknown> => ask({ url, apiKey: 'sk_1' }, request, pause);
const busy =
  (status: number, after?: string) =>
  (response: ServerResponse): void =>
    void response
      .writeHead(status, after === undefined ? {} : { 'retry-after': after })
      .end(JSON.stringify({ error: 'later', code: 'busy' }));
const lost = (response: ServerResponse): void => void response.destroy();
const headersOf = (name: string): readonly unknown[] => asked.map(({ headers }) => headers[name]);

// docs/reference/command-line.md#requests
describe('a request', () => {
  it('is tried again while the server is busy or lost, as the same request', async () => {
    answers = [busy(503, '7'), busy(429), lost];
    expect(await send({ method: 'POST', path: '/v1/sources', body: {} })).toEqual({ data: 1 });
    expect(pauses).toEqual([7_000, 2_000, 4_000]);
    expect(new Set(headersOf('idempotency-key')).size).toBe(1);
    expect(headersOf('idempotency-key')[0]).toMatch(/^[\w-]{36}$/);
    expect(headersOf('user-agent')[0]).toMatch(/^sluice-cli\/\d/);
    expect(headersOf('authorization')[0]).toBe('Bearer sk_1');
  });

  it('ends after four tries, or when the next would be too late', async () => {
    answers = [busy(503, '0'), busy(503, '0'), busy(503, '0'), busy(503, '0')];
    await expect(send({ method: 'GET', path: '/' })).rejects.toMatchObject({ exit: 8, code: 'busy', status: 503 });
    expect(asked).toHaveLength(4);
    answers = [busy(503, '31')];
    await expect(send({ method: 'GET', path: '/' })).rejects.toMatchObject({ exit: 8 });
    expect(asked).toHaveLength(5);
  });

  it.each([
    [400, 'invalid_prop', 6],
    [400, 'invalid_parameter', 1],
    [401, 'unauthorized', 3],
    [403, 'read_only_key', 3],
    [404, 'source_not_found', 4],
    [409, 'limit_reached', 5],
    [412, 'precondition_failed', 5],
    [422, 'hook_failed', 6],
    [500, 'internal_error', 1],
  ])('that is refused with %i %s ends once, with %i', async (status, code, exit) => {
    answers = [(response) => response.writeHead(status).end(JSON.stringify({ error: 'no', code, details: { a: 1 } }))];
    const failure = { exit, code, status, message: 'no', details: { a: 1 } };
    await expect(send({ method: 'GET', path: '/' })).rejects.toMatchObject(failure);
    expect(asked).toHaveLength(1);
  });

  it('follows no redirect', async () => {
    answers = [(response) => response.writeHead(302, { location: '/elsewhere' }).end()];
    await expect(send({ method: 'GET', path: '/' })).rejects.toMatchObject({ exit: 1, code: 'unexpected_answer' });
    expect(asked).toHaveLength(1);
  });

  it('names the revision that the resource must have', async () => {
    await send({ method: 'PUT', path: '/v1/sources/dc_1', body: {}, revision: 3 });
    expect(headersOf('if-match')).toEqual(['"3"']);
    expect(headersOf('idempotency-key')).toEqual([undefined]);
  });

  it('gives up on a server that answers without end', async () => {
    answers = [
      (response) => {
        const more = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(1024 * 1024, 'x')));
        };
        response.on('drain', more);
        more();
      },
    ];
    await expect(send({ method: 'GET', path: '/' })).rejects.toMatchObject({
      exit: 1,
      code: 'unexpected_answer',
      message: `${url} answered 200 with more than 64 MB: check the address`,
    });
  });

  it('gives up on a server that answers slowly without end', async () => {
    const slow = (response: ServerResponse): void => {
      const more = setInterval(() => response.write(' '), 5);
      response.on('close', () => clearInterval(more));
    };
    answers = [slow, slow, slow, slow];
    const asking = askForText({ url, apiKey: 'sk_1' }, { method: 'GET', path: '/' }, pause, 50);
    await expect(asking).rejects.toMatchObject({ exit: 7, code: 'no_server' });
    expect(asked).toHaveLength(4);
  });

  it('opens no stream that a server does not begin', async () => {
    answers = [() => undefined];
    const opening = askForStream({ url, apiKey: 'sk_1' }, '/v1/sse', {}, new AbortController().signal, 50);
    await expect(opening).rejects.toMatchObject({ exit: 7, code: 'no_server' });
  });

  it('is told with its time and id, and without the key', async () => {
    const told: string[] = [];
    answers = [(response) => response.writeHead(200, { 'x-request-id': 'req-1' }).end('{}')];
    await askForText({ url, apiKey: 'sk_1', tell: (text) => told.push(text) }, { method: 'GET', path: '/v1/users/me' });
    expect(told).toEqual([expect.stringMatching(/^GET http:\S+\/v1\/users\/me: 200, request req-1, \d+ ms$/)]);
  });
});
