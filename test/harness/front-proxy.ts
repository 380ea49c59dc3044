import { Agent, createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';

/** The processes behind one base URL. Each may have several copies. */
export interface Backends {
  commands(): readonly string[];
  queries(): readonly string[];
  ingress(): readonly string[];
}

const QUERIES = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Acts as the reverse proxy of the roles (deploy/nginx.conf.template). Sends changes, reads and endpoints to their
 * processes.
 */
export class FrontProxy {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 256 });
  private readonly server: Server;
  private turn = 0;

  private constructor(private readonly backends: Backends) {
    this.server = createServer({ keepAliveTimeout: 65_000 }, (req, res) => this.forward(req, res));
  }

  static async start(backends: Backends): Promise<FrontProxy> {
    const proxy = new FrontProxy(backends);
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    this.agent.destroy();
    await closed;
  }

  private targetsOf({ method = 'GET', url = '/' }: IncomingMessage): readonly string[] {
    if (url.startsWith('/h/') || url.startsWith('/r/')) return this.backends.ingress();
    if (url.startsWith('/healthz') || url.startsWith('/readyz') || url.startsWith('/metrics'))
      return this.backends.queries();
    // A host below the endpoint domain has only endpoint paths, apart from the API.
    if (!/^\/+(v1(\/|\?|$)|mcp(\?|$))/.test(url)) return this.backends.queries();
    return QUERIES.has(method) ? this.backends.queries() : this.backends.commands();
  }

  private forward(req: IncomingMessage, res: ServerResponse): void {
    const targets = this.targetsOf(req);
    const target = targets[this.turn++ % Math.max(1, targets.length)];
    if (target === undefined) {
      res.writeHead(503, { 'retry-after': '1' }).end();
      return;
    }
    const onward = request(
      `${target}${req.url ?? '/'}`,
      { method: req.method ?? 'GET', headers: req.headers, agent: this.agent },
      (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.headers);
        answer.pipe(res);
      },
    );
    onward.on('error', () => {
      // The process is gone or has closed the connection. The proxy closes its own too, or answers with an error if it
      // still can.
      if (res.headersSent) res.destroy();
      else res.writeHead(502, { 'content-type': 'text/plain' }).end('the process behind this path does not answer');
    });
    res.once('close', () => {
      if (!res.writableFinished) onward.destroy();
    });
    req.pipe(onward);
  }
}
