import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';

export type Handler = (req: IncomingMessage, res: ServerResponse) => void;

const IDLE_LOOK_MS = 20;

/**
 * The one listening socket. It is opened first, so that the port is known (and a port in use is found out before
 * anything is started), and answers 503 until it is given what serves.
 */
export class Front {
  private handler: Handler | undefined;
  private closing = false;

  private constructor(private readonly server: Server) {}

  static async listen(host: string, port: number): Promise<Front> {
    const server = createServer({ keepAliveTimeout: 65_000, requestTimeout: 120_000 });
    const front = new Front(server);
    server.on('request', (req: IncomingMessage, res: ServerResponse) => {
      if (front.closing) front.lastOf(res);
      (front.handler ?? stillStarting)(req, res);
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

  /** Takes no more connections, lets the requests that run finish, up to `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.closing = true;
    const closed = new Promise((resolve) => this.server.close(resolve));
    // Node keeps a connection whose request was running at the close until its keep-alive ends: a look now and then.
    const idle = setInterval(() => this.server.closeIdleConnections(), IDLE_LOOK_MS);
    const timer = setTimeout(() => this.server.closeAllConnections(), graceMs);
    await closed;
    clearInterval(idle);
    clearTimeout(timer);
  }

  /** Tells the client that the connection ends with this answer, so that its next request goes elsewhere. */
  private lastOf(res: ServerResponse): void {
    res.shouldKeepAlive = false;
  }
}

/** 503: try again soon. */
export const stillStarting: Handler = (_req, res) => {
  res.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' });
  res.end('{"error":"the server is starting","code":"unavailable"}');
};

const inUse = (host: string, port: number): Error =>
  new Error(`port ${port} on ${host} is in use: stop what listens there, or choose another with SLUICE_PORT`);
