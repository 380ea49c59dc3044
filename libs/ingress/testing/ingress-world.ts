import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { httpBytes } from '#libs/http/bytes-in-flight.js';
import { TrustedProxies } from '#libs/http/client-address.js';
import { type LogRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { Ingress, type IngressDependencies } from '../ingress.js';
import { RateLimit } from '../rate-limit.js';
import { ResponseRelay } from '../response-relay.js';

export interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: string;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The spec ends it with `close`. */
export const ingressWorld = async (over: Partial<IngressDependencies> = {}) => {
  const published: LogRecord[] = [];
  const relay = new ResponseRelay();
  const world = { publish: (): number | null => 0 };
  const deps: Writable<IngressDependencies> = {
    endpoint: (key) =>
      key === 'ehook' || key === 'ecustom'
        ? { sourceId: 'dc_1', workspaceId: 'o_1', prop: 'http', customResponse: key === 'ecustom' }
        : undefined,
    log: {
      publish: async (records: readonly LogRecord[]) => {
        published.push(...records);
        return records.map(() => world.publish());
      },
    } as Partial<StreamLog> as StreamLog,
    topics: perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 }),
    relay,
    admission: { enter: () => true, left: () => undefined },
    rate: new RateLimit(0, 0),
    domain: null,
    maxBodyBytes: 100,
    bytes: httpBytes(100, 100),
    replyTimeoutMs: 5_000,
    proxies: new TrustedProxies(['127.0.0.1']),
    clock: { now: () => 1_700_000_000_000 },
    metrics: { accepted: () => undefined, refused: () => undefined },
    logger: { error: () => undefined },
    ...over,
  };
  const ingress = new Ingress(deps);
  return { ...(await served(ingress)), deps, published, relay, world };
};

/** Requests to one part of the role, in the place of the whole server. The spec ends it with `close`. */
export const served = async (part: { handle(req: IncomingMessage, res: ServerResponse): boolean }) => {
  const server = createServer((req, res) => {
    if (!part.handle(req, res)) res.writeHead(418).end('api');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const call = (
    method: string,
    path: string,
    options: { headers?: Record<string, string>; body?: string | Buffer } = {},
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const req = request(
        { port, host: '127.0.0.1', method, path, agent: false, headers: options.headers ?? {} },
        (res) => {
          const chunks: Buffer[] = [];
          res.on('data', (chunk: Buffer) => chunks.push(chunk));
          res.on('end', () =>
            resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(chunks).toString() }),
          );
        },
      );
      req.on('error', reject);
      req.end(options.body);
    });
  const close = (): Promise<unknown> => new Promise((resolve) => server.close(resolve));
  return { call, close };
};
