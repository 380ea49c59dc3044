import { once } from 'node:events';
import { type Server } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Handler } from './http-listener.js';
import {
  closeAll,
  listen,
  answersOf,
  until,
  get,
  post,
  chunked,
  expecting,
  many,
  echo,
  keeping,
} from './testing/listener-world.js';

afterEach(closeAll);

// docs/reference/rest-api.md#half-closed
describe('a client that closes its side after the request', () => {
  const slow: Handler = (req, res) =>
    void req.resume().once('end', () => setTimeout(() => res.end(`<${req.url ?? ''}>`), 20));

  it.each([
    ['one with a body', 1, post(0, 'hi')],
    ['one without', 1, get(0)],
    ['chunks', 1, chunked(0)],
    ['a body that expects a 100', 1, expecting(0)],
    ['HTTP/1.0', 1, 'GET /0 HTTP/1.0\r\n\r\n'],
    ['one that closes anyway', 1, 'GET /0 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['three written ahead', 3, many(3, get)],
    ['1,400 written ahead', 1_400, many(1_400, post)],
    ['a body of 300 KB', 1, post(0, 'x'.repeat(300_000))],
  ])('gets its answer: %s', async (_name, count, text) => {
    const { dial } = await listen(count > 3 ? echo : slow);
    const socket = await dial();
    socket.end(text);
    const ended = once(socket, 'end');
    expect(await answersOf(socket, count)).toEqual(Array.from({ length: count }, (_, n) => `/${n}`));
    // The server ends the connection then.
    await ended;
  });

  it('gets all of a large answer, and one whose parts come late', async () => {
    const { dial } = await listen((req, res) => {
      if (req.url === '/0') return void res.end(`<${'x'.repeat(5_000_000)}>`);
      res.write('<a');
      setTimeout(() => res.write('b'), 20);
      setTimeout(() => res.end('c>'), 40);
    });
    for (const [n, size] of [5_000_000, 3].entries()) {
      const socket = await dial();
      socket.end(get(n));
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).resume();
      await once(socket, 'close');
      expect(
        text
          .replace(/\r\n[0-9a-f]+\r\n/g, '')
          .split('<')[1]
          ?.indexOf('>'),
      ).toBe(size);
    }
  });

  it('gets its answer when it closes later, while it waits', async () => {
    const { kept, handler } = keeping();
    const { dial } = await listen(handler);
    const socket = await dial();
    socket.write(get(1));
    await until('the request', () => kept.length === 1);
    socket.end();
    const ended = new Promise((resolve) => kept[0]?.req.socket.once('end', resolve));
    await ended;
    kept[0]?.res.end('<late>');
    expect(await answersOf(socket, 1)).toEqual(['late']);
  });

  it.each([
    ['in a body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc'],
    ['in its headers', 'GET / HTTP/1.1\r\nHos'],
    ['in a chunk', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab'],
  ])('is answered 400 at once when it was not finished: %s', async (_name, text) => {
    const { dial } = await listen(echo);
    const socket = await dial();
    socket.end(text);
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString())).resume();
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1.1 400 [\s\S]*"code":"bad_request"/);
  });

  it('leaves no connection behind, with and without a request', async () => {
    const { front, dial } = await listen(echo);
    const server = (front as unknown as { server: Server }).server;
    const connections = (): Promise<number> =>
      new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
    for (const text of ['', get(1), many(40, post)]) (await dial()).resume().end(text);
    let open = 3;
    await until('no connection', () => {
      void connections().then((count) => (open = count));
      return open === 0;
    });
  });
});
