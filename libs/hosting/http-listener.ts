import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { answerAtLast } from '#libs/http/last-answer.js';
import { answerForParser, toOriginForm } from './parser-answers.js';

export type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** Of a client that is slow on purpose, a connection is held no longer than this. */
const TIMEOUTS = {
  /** Above that of the proxies in front, so that none sends a request into an end. */
  keepAliveTimeout: 65_000,
  headersTimeout: 20_000,
  requestTimeout: 120_000,
  connectionsCheckingInterval: 2_000,
};
/** Well below the open files that a process may have. */
const MAX_CONNECTIONS = 8_192;

const LINGER_MS = 250;
const IDLE_LOOK_MS = 20;

/**
 * The one listening socket. It is opened first, so that the port is known (and a port in use is found out before
 * anything is started), and answers 503 until it is given what serves.
 */
export class HttpListener {
  private handler: Handler | undefined;
  private closed: Promise<void> | undefined;

  private constructor(private readonly server: Server) {}

  /** @param onFailure hears what a handler threw, or a response failed with; the request has ended then. */
  static async listen(
    host: string,
    port: number,
    onFailure: (error: unknown) => void = () => undefined,
    timeouts = TIMEOUTS,
  ): Promise<HttpListener> {
    const server = createServer(timeouts);
    server.maxConnections = MAX_CONNECTIONS;
    const front = new HttpListener(server);
    answerForParser(server);
    server.on('request', (req: IncomingMessage, res: ServerResponse) => {
      // Tells the client that the connection ends with this answer, so that its next request goes elsewhere.
      if (front.closed) res.shouldKeepAlive = false;
      res.on('error', onFailure);
      try {
        toOriginForm(req);
        (front.handler ?? stillStarting)(req, res);
      } catch (error) {
        answerAtLast(res, {
          status: 500,
          code: 'internal_error',
          error: 'unexpected error; the log of the server has it',
        });
        onFailure(error);
      }
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) =>
        reject(error.code === 'EADDRINUSE' ? inUse(host, port) : error),
      );
      server.listen(port, host, resolve);
    });
    return front;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  serve(handler: Handler): void {
    this.handler = handler;
  }

  /**
   * Takes no more connections, lets the requests that run finish, up to `graceMs`. Connections that are kept are served
   * for a moment longer: a request may be on its way on one, and a proxy does not send a POST again. Idempotent.
   */
  close(graceMs: number): Promise<void> {
    return (this.closed ??= this.drain(graceMs));
  }

  private async drain(graceMs: number): Promise<void> {
    // Not the close of an HTTP server, which cuts kept connections at once.
    const ended = new Promise<void>((resolve) => NetServer.prototype.close.call(this.server, () => resolve()));
    const late = setTimeout(() => this.server.closeAllConnections(), graceMs);
    await Promise.race([ended, pause(Math.min(LINGER_MS, graceMs))]);
    // Again and again: Node keeps a connection whose request was running until its keep-alive ends.
    const idle = setInterval(() => this.server.closeIdleConnections(), IDLE_LOOK_MS);
    this.server.close();
    await ended;
    clearInterval(idle);
    clearTimeout(late);
  }
}

/** 503: try again soon. */
export const stillStarting: Handler = (_req, res) => {
  res.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' });
  res.end('{"error":"the server is starting","code":"unavailable"}');
};

const inUse = (host: string, port: number): Error =>
  new Error(`port ${port} on ${host} is in use: stop what listens there, or choose another with SLUICE_PORT`);
