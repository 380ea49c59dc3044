import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type ListenerLimits } from '../connections.js';
import { type Handler, HttpListener } from '../http-listener.js';

const opened: { front: HttpListener; sockets: Socket[] }[] = [];

/** Ends what `listen` opened. */
export const closeAll = async (): Promise<void> => {
  for (const { front, sockets } of opened.splice(0)) {
    for (const socket of sockets) socket.destroy();
    await front.close(1);
  }
};

/** A listener, and how to reach it. Nothing is read of a socket before `read`. */
export const listen = async (handler: Handler, limits: Partial<ListenerLimits> = {}, failures: unknown[] = []) => {
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

/** Reads until the text contains this many answers, or the connection ends. */
export const answersOf = (socket: Socket, count: number): Promise<string[]> =>
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

export const until = async (what: string, done: () => boolean): Promise<void> => {
  for (const end = Date.now() + 20_000; !done(); await pause(5)) if (Date.now() > end) throw new Error(what);
};

export const get = (path: string | number): string => `GET /${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
export const post = (path: string | number, body = 'x'.repeat(40)): string =>
  `POST /${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
export const chunked = (path: string | number): string =>
  `POST /${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;
export const expecting = (path: string | number): string =>
  `POST /${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc`;
export const head = (path: string | number): string => `HEAD /${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
export const many = (count: number, make: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => make(n)).join('');

/** Answers with the path, once the body was read. */
export const echo: Handler = (req, res) => void req.resume().once('end', () => res.end(`<${req.url ?? ''}>`));

/** Keeps every request unanswered. */
export const keeping = () => {
  const kept: { req: IncomingMessage; res: ServerResponse }[] = [];
  const handler: Handler = (req, res) => void kept.push({ req, res });
  return { kept, handler };
};
