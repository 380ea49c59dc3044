import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

export interface HttpProxy {
  readonly port: number;
  /** Authorities of the CONNECT requests, in order. */
  readonly asked: string[];
  readonly credentials: (string | undefined)[];
  close(): Promise<void>;
}

/**
 * Starts a proxy that opens every requested connection, at an address of this machine. `resolve` chooses another
 * target. `answer` refuses with a status.
 */
export const startHttpProxy = async ({
  host = '127.0.0.1',
  port: listened = 0,
  resolve = (asked: string): { host: string; port: number } => {
    const { hostname, port } = new URL(`http://${asked}`);
    return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port === '' ? 80 : port) };
  },
  answer = (): number => 200,
} = {}): Promise<HttpProxy> => {
  const open = new Set<Socket>();
  const asked: string[] = [];
  const credentials: (string | undefined)[] = [];
  const keep = (socket: Socket): void => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => open.delete(socket));
  };
  const server: Server = createServer((_, response) => void response.writeHead(418).end());
  server.on('connection', keep);
  server.on('connect', (request, client: Socket) => {
    asked.push(request.url ?? '');
    credentials.push(request.headers['proxy-authorization']);
    const status = answer();
    if (status !== 200) return void client.end(`HTTP/1.1 ${status} Refused\r\n\r\n`);
    const upstream = connect({ ...resolve(request.url ?? ''), allowHalfOpen: true });
    keep(upstream);
    upstream.on('error', () => client.destroy());
    upstream.on('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
  });
  await new Promise<void>((done) => server.listen(listened, host, done));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    credentials,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        for (const socket of open) socket.destroy();
      }),
  };
};
