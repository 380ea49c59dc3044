import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
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
  head,
  many,
  echo,
  keeping,
} from './testing/listener-world.js';

afterEach(closeAll);

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
    // The connection still serves requests.
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
    // The unparsed bytes are a chunk that was read, and the read-ahead of the stream.
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
    // A client that only closed its side looks the same until it is answered.
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
    // A new reader is served completely.
    const reader = await dial();
    let bytes = 0;
    reader.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume();
    reader.write(get(1));
    await until('the whole answer of the reader', () => bytes > BIG);
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
