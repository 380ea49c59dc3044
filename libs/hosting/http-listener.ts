import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { endsWithin } from '#libs/async/deadline.js';
import { answerAtLast } from '#libs/http/last-answer.js';
import { Connections, type ListenerLimits, listenerLimits } from './connections.js';
import { answerForParser, refusedExpectation, toOriginForm } from './parser-answers.js';

export type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** Limits how long a slow client can hold a connection. */
const TIMEOUTS = {
  /** Longer than the keep-alive of proxies in front, so that none sends a request on a closing connection. */
  keepAliveTimeout: 65_000,
  headersTimeout: 20_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 2_000,
};
/** Well below a process's limit of open files. */
const MAX_CONNECTIONS = 8_192;

const LINGER_MS = 250;
const IDLE_LOOK_MS = 20;

/**
 * The one listening socket. It is opened first, so that the port is known and a port in use is detected before anything
 * else starts. It answers 503 until `serve` is called.
 */
export class HttpListener {
  private handler: Handler | undefined;
  private closed: Promise<void> | undefined;

  /** Memory for clients that write ahead or do not read. */
  readonly connections: Connections;

  private constructor(
    private readonly server: Server,
    private readonly onFailure: (error: unknown) => void,
    limits: ListenerLimits,
  ) {
    this.connections = new Connections(server, limits, (req, res) => this.take(req, res));
    answerForParser(server, this.connections);
  }

  /** @param onFailure gets an error of a handler or a response, after the request has ended. */
  static async listen(
    host: string,
    port: number,
    onFailure: (error: unknown) => void = () => undefined,
    timeouts = TIMEOUTS,
    limits: Partial<ListenerLimits> = {},
  ): Promise<HttpListener> {
    const server = createServer(timeouts);
    // A client that has sent its request may close its side, as `nc -N` and many scripts do, and still gets its answer.
    (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
    server.maxConnections = MAX_CONNECTIONS;
    const front = new HttpListener(server, onFailure, { ...listenerLimits(), ...limits });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
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
   * Accepts no more connections and lets running requests finish, for up to `graceMs`. Kept-alive connections are
   * served a moment longer, because a request may be in transit and a proxy does not retry a POST. Idempotent.
   */
  close(graceMs: number): Promise<void> {
    return (this.closed ??= this.drain(graceMs));
  }

  private take(req: IncomingMessage, res: ServerResponse): void {
    // Tells the client that the connection closes, so that its next request uses another one.
    if (this.closed) res.shouldKeepAlive = false;
    res.on('error', this.onFailure);
    if (refusedExpectation(req, res)) return;
    try {
      toOriginForm(req);
      (this.handler ?? stillStarting)(req, res);
    } catch (error) {
      answerAtLast(res, {
        status: 500,
        code: 'internal_error',
        error: 'unexpected error; the log of the server has it',
      });
      this.onFailure(error);
    }
  }

  private async drain(graceMs: number): Promise<void> {
    // The close of an HTTP server would end idle kept-alive connections at once.
    const ended = new Promise<void>((resolve) => NetServer.prototype.close.call(this.server, () => resolve()));
    const late = setTimeout(() => this.server.closeAllConnections(), graceMs);
    await endsWithin(ended, Math.min(LINGER_MS, graceMs));
    // Repeated, because Node keeps a connection whose request was running until its keep-alive ends.
    const idle = setInterval(() => this.server.closeIdleConnections(), IDLE_LOOK_MS);
    this.server.close();
    await ended;
    clearInterval(idle);
    clearTimeout(late);
    this.connections.close();
  }
}

/** Answers 503 with Retry-After. */
export const stillStarting: Handler = (_req, res) => {
  res.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' });
  res.end('{"error":"the server is starting: try again in a second","code":"unavailable"}');
};
