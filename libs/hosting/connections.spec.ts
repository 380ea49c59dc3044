import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type ListenerLimits } from './connections.js';
import { type Handler, HttpListener } from './http-listener.js';

const opened: { front: HttpListener; sockets: Socket[] }[] = [];

afterEach(async () => {
  for (const { front, sockets } of opened.splice(0)) {
    for (const socket of sockets) socket.destroy();
    await front.close(1);
  }
});

/** A listener, and how to reach it. Nothing is read of a socket before `read`. */
const listen = async (handler: Handler, limits: Partial<ListenerLimits> = {}, failures: unknown[] = []) => {
  const front = await HttpListener.listen('127.0.0.1', 0, (error) => failures.push(error), undefined, {
    lookMs: 20,
    ...limits,
  });
  front.serve(handler);
  const sockets: Socket[] = [];
  opened.push({ front, sockets });
  const dial = async (): Promise<Socket> => {
    const socket = connect(front.port, '127.0.0.1').pause();
    socket.on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  return { front, dial };
};

/** Reads until the text holds as many answers as asked for, or the connection ends. */
const answersOf = (socket: Socket, count: number): Promise<string[]> =>
  new Promise((resolve) => {
    let text = '';
    const bodies = (): string[] => [...text.matchAll(/<([^>]*)>/g)].map(([, body]) => body ?? '');
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (chunk.includes('>') && bodies().length >= count) resolve(bodies());
    });
    socket.once('close', () => resolve(bodies()));
    socket.resume();
  });

const until = async (what: string, done: () => boolean): Promise<void> => {
  for (const end = Date.now() + 20_000; !done(); await pause(5)) if (Date.now() > end) throw new Error(what);
};

const get = (path: string | number): string => `GET /${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const post = (path: string | number, body = 'x'.repeat(40)): string =>
  `POST /${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const chunked = (path: string | number): string =>
  `POST /${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;
const expecting = (path: string | number): string =>
  `POST /${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc`;
const head = (path: string | number): string => `HEAD /${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const many = (count: number, make: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => make(n)).join('');

/** Answers with the path, once the body was read. */
const echo: Handler = (req, res) => void req.resume().once('end', () => res.end(`<${req.url ?? ''}>`));

/** Keeps every request unanswered. */
const keeping = () => {
  const kept: { req: IncomingMessage; res: ServerResponse }[] = [];
  const handler: Handler = (req, res) => void kept.push({ req, res });
  return { kept, handler };
};

describe('requests written ahead on a connection', () => {
  // docs/reference/limits.md#unanswered-requests
  it.each([
    ['1,400 GETs', 1_400, get],
    ['1,400 POSTs', 1_400, post],
    ['bodies in chunks', 700, chunked],
    ['bodies that expect a 100', 700, expecting],
    ['bodies of line breaks', 100, (n: number) => post(n, '\r\n\r\n'.repeat(500))],
    [
      'bodies that look like requests',
      100,
      (n: number) =>
        post(
          n,
          many(40, () => get('no')),
        ),
    ],
    ['bodies of 100 KB', 40, (n: number) => post(n, 'x'.repeat(100_000))],
  ])('are answered wholly and in order: %s', async (_name, count, make) => {
    const { dial } = await listen(echo);
    const socket = await dial();
    socket.write(many(count, make));
    expect(await answersOf(socket, count)).toEqual(Array.from({ length: count }, (_, n) => `/${n}`));
    // The connection serves on.
    socket.write(get('more'));
    expect((await answersOf(socket, 1)).at(-1)).toBe('/more');
  });

  it.each([1, 7, 60, 511, 513, 5_000, 65_536])('are answered when they come in pieces of %d bytes', async (size) => {
    const { dial } = await listen(echo);
    const socket = await dial();
    const count = size === 1 ? 40 : 200;
    const text = many(count, (n) => (n % 3 === 0 ? post(n) : n % 3 === 1 ? get(n) : chunked(n)));
    const answers = answersOf(socket, count);
    for (let at = 0; at < text.length; at += size) {
      socket.write(text.slice(at, at + size));
      if (size < 60) await new Promise(setImmediate);
    }
    expect(await answers).toEqual(Array.from({ length: count }, (_, n) => `/${n}`));
  });

  it('are served 16 at most, and the connection is not read meanwhile', async () => {
    const { kept, handler } = keeping();
    const { front, dial } = await listen(handler);
    const socket = await dial();
    socket.write(many(1_000_000, () => get('x')));
    await until('16 requests', () => kept.length >= 16);
    await pause(100);
    expect(kept).toHaveLength(16);
    // What waits unparsed is a piece that was read, and what the stream reads ahead.
    expect(front.connections.heldBytes).toBeLessThan(200_000);
    // Control: the client could not write the rest.
    expect(socket.writableLength).toBeGreaterThan(0);
    const read = answersOf(socket, 1);
    kept[0]?.res.end('<first>');
    await read;
    await until('one more', () => kept.length === 17);
    await pause(50);
    expect(kept).toHaveLength(17);
  });

  it('that expect what cannot be met count too, and are refused in order', async () => {
    const { kept, handler } = keeping();
    const { front, dial } = await listen(handler);
    const parsed: ServerResponse[] = [];
    const answered = (): number => parsed.filter(({ writableEnded }) => writableEnded).length;
    const server = (front as unknown as { server: NodeJS.EventEmitter }).server;
    server.on('checkExpectation', (_req, res: ServerResponse) => parsed.push(res));
    const socket = await dial();
    socket.write(get('first') + many(1_400, () => 'GET / HTTP/1.1\r\nHost: a\r\nExpect: all\r\n\r\n'));
    await until('16 requests', () => answered() >= 15);
    await pause(100);
    expect(answered()).toBe(15);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).resume();
    kept[0]?.res.end('<first>');
    await until('1,400 answers', () => text.split('HTTP/1.1 417').length === 1_401);
    expect(text.indexOf('<first>')).toBeLessThan(text.indexOf('HTTP/1.1 417'));
    expect(kept).toHaveLength(1);
  });

  it('cost each connection no more when they come on 300 at once', async () => {
    const { kept, handler } = keeping();
    const { front, dial } = await listen(handler);
    const parsed = new Map<Socket, number>();
    const server = (front as unknown as { server: NodeJS.EventEmitter }).server;
    server.on('request', ({ socket }: IncomingMessage) => parsed.set(socket, (parsed.get(socket) ?? 0) + 1));
    const sockets = await Promise.all(Array.from({ length: 300 }, dial));
    const text = many(1_400, get);
    for (const socket of sockets) socket.write(text);
    await until('16 of each', () => kept.length >= 16 * sockets.length);
    await pause(100);
    expect(kept).toHaveLength(16 * sockets.length);
    const counts = [...parsed.values()].sort((a, b) => a - b);
    // One connection may be parsed at once before the others are read in parts.
    expect(counts.at(-1)).toBeLessThanOrEqual(1_400);
    expect(counts.at(-2)).toBeLessThanOrEqual(16 + 25);
  });

  it('wait while an earlier answer is not read, beyond 1 MB', async () => {
    let served = 0;
    const big = Buffer.alloc(400_000, 'x');
    const { dial } = await listen((_req, res) => {
      served++;
      res.end(big);
    });
    const socket = await dial();
    socket.write(many(1_400, get));
    await until('the first', () => served > 0);
    await pause(300);
    // The kernel's buffers take a few megabytes.
    expect(served).toBeLessThan(60);
    socket.resume();
    await until('all', () => served === 1_400);
  });

  it.each<[string, (socket: Socket, kept: readonly { res: ServerResponse }[]) => void]>([
    ['by a reset', (socket) => void socket.resetAndDestroy()],
    // One that only closed its side looks the same until it is answered.
    ['with the first answers', (socket, kept) => (socket.destroy(), kept.forEach(({ res }) => res.end('<a>')))],
  ])('get their closing told when the client leaves, also those behind another: %s', async (_name, leave) => {
    const { kept, handler } = keeping();
    const { dial } = await listen(handler);
    const socket = await dial();
    socket.write(many(5, get));
    await until('all of them', () => kept.length === 5);
    let closed = 0;
    for (const { res } of kept) res.once('close', () => closed++);
    leave(socket, kept);
    await until('each of them closed', () => closed === 5);
    await pause(50);
    expect(closed).toBe(5);
  });

  it('that ask for the end of the connection are the last to be answered', async () => {
    const { dial } = await listen(echo);
    const socket = await dial();
    socket.write(`${get(0)}${get(1).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')}`);
    expect(await answersOf(socket, 100)).toEqual(['/0', '/1']);
  });

  it('before a broken one are answered, or the connection ends', async () => {
    const { dial } = await listen(echo);
    const socket = await dial();
    socket.write(`${many(30, get)}nonsense\r\n\r\n${many(30, get)}`);
    const answers = await answersOf(socket, 100);
    expect(answers).toEqual(Array.from({ length: answers.length }, (_, n) => `/${n}`));
    expect(answers.length).toBeLessThanOrEqual(30);
  });

  it('may be answers without bodies', async () => {
    const { dial } = await listen(echo);
    const socket = await dial();
    socket.write(many(100, head) + get('end'));
    expect(await answersOf(socket, 1)).toEqual(['/end']);
  });

  it('before a tunnel do not break the connection of others', async () => {
    const { dial } = await listen(echo);
    const socket = await dial();
    socket.write(`${many(30, get)}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n${many(3_000, get)}`);
    await answersOf(socket, 100);
    const other = await dial();
    other.write(many(100, get));
    expect(await answersOf(other, 100)).toHaveLength(100);
  });

  it('keep a slow body waiting without breaking its request', async () => {
    const { dial } = await listen(echo);
    const socket = await dial();
    const body = 'y'.repeat(300);
    socket.write(many(20, get) + post('slow', body).slice(0, -200));
    await pause(50);
    const answers = answersOf(socket, 22);
    for (let at = 200; at > 0; at -= 50) {
      socket.write('y'.repeat(50));
      await pause(10);
    }
    socket.write(get('after'));
    expect((await answers).slice(-2)).toEqual(['/slow', '/after']);
  });
});

describe('an answer that is not read', () => {
  const BIG = 8 * 1024 * 1024;
  const whole: Handler = (_req, res) => void res.end(Buffer.alloc(BIG, 'x'));
  const inPieces: Handler = (_req, res) => {
    const write = (left: number): void => {
      for (; left > 0; left -= 65_536)
        if (!res.write(Buffer.alloc(65_536, 'x'))) return void res.once('drain', () => write(left - 65_536));
      res.end();
    };
    write(BIG);
  };

  // docs/reference/limits.md#unread-answers
  it.each([
    ['whole', whole],
    ['in pieces', inPieces],
  ])('ends its connection once nothing was read for a while: %s', async (_name, handler) => {
    const { front, dial } = await listen(handler, { stalledMs: 200 });
    const socket = await dial();
    const closed = once(socket, 'close');
    socket.write(get(1));
    await until('a cut', () => front.connections.cuts.stalled === 1);
    await until('no bytes', () => front.connections.heldBytes === 0);
    socket.resume();
    await closed;
  });

  it.each([
    ['whole', whole],
    ['in pieces', inPieces],
  ])('is sent wholly to a reader that is slow but reads: %s', async (_name, handler) => {
    const { front, dial } = await listen(handler, { stalledMs: 2_000 });
    const socket = await dial();
    let bytes = 0;
    let seen = 0;
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes - seen < 400_000) return;
      seen = bytes;
      socket.pause();
      setTimeout(() => socket.resume(), 150);
    });
    socket.resume();
    socket.write(get(1));
    await until('all of it', () => bytes > BIG);
    expect(front.connections.cuts).toEqual({ stalled: 0, memory: 0 });
  });

  it('may take as long as it likes before it begins', async () => {
    const { kept, handler } = keeping();
    const { front, dial } = await listen(handler, { stalledMs: 50 });
    const socket = await dial();
    socket.write(get(1) + get(2));
    await pause(400);
    for (const { res } of kept) res.end('<late>');
    expect(await answersOf(socket, 2)).toEqual(['late', 'late']);
    expect(front.connections.cuts.stalled).toBe(0);
  });

  it.each([
    ['those that read nothing', 160],
    ['the slowest, once they hold twice as much', 40],
  ])('is cut when all answers together are above the limit: %s', async (_name, limitMb) => {
    const unsentInAll = limitMb * 1024 * 1024;
    const { front, dial } = await listen(whole, { unsentInAll, lookMs: 50 });
    const unread = await Promise.all(Array.from({ length: 40 }, dial));
    for (const socket of unread) socket.write(get(1));
    await until('cuts', () => front.connections.cuts.memory > 0);
    await until('less', () => front.connections.heldBytes > 0 && front.connections.heldBytes <= unsentInAll);
    // A reader that comes now is served wholly.
    const reader = await dial();
    let bytes = 0;
    reader.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume();
    reader.write(get(1));
    await until('the whole answer of the reader', () => bytes > BIG);
  });
});

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
      expect(text.replace(/\r\n[0-9a-f]+\r\n/g, '').split('<')[1]?.indexOf('>')).toBe(size);
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

describe('a body whose rest never comes', () => {
  it('is answered 408, though its connection had to wait before', async () => {
    const { dial } = await listen(echo, { bodyMs: 200 });
    const socket = await dial();
    socket.write(`${many(40, get)}POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc`);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString())).resume();
    await once(socket, 'close');
    expect(text).toMatch(/HTTP\/1.1 408 [\s\S]*"code":"request_timeout"/);
  });
});
