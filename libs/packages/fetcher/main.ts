/**
 * Entry point of the process that requests registries and downloads tarballs. It alone has their tokens. Bundled to
 * dist/libs/packages/fetcher-child.cjs.
 */
import { Socket } from 'node:net';
import path from 'node:path';
import { DOWN_FD, encodeRecord, RecordParser, UP_FD } from '#libs/framing/records.js';
import { proxyServerOf } from '#libs/egress/proxy-connect.js';
import { RegistryRules } from '../registry-rules.js';
import { MAX_FETCHER_RECORD_BYTES, MAX_MESSAGE, type FetcherOrder, type ProxyOrder } from './message.js';
import { proxiedFetch } from './proxied-fetch.js';
import { Refusal, RegistryClient } from './registry-client.js';
import { named, resolve } from './resolve.js';

// The jails that unpack tarballs have other users. The server's umask is 077.
process.umask(0o022);

const up = new Socket({ fd: UP_FD, readable: false, writable: true });
up.on('error', () => process.exit(1));

let rules = new RegistryRules([]);
let client = new RegistryClient(rules, fetch);
let folder = '';
const running = new Map<number, AbortController>();

const say = (reply: object): void => void up.write(encodeRecord(0, reply));

/** Prevents code of this process from connecting to anything but the configured hosts and the proxy. */
const guardConnections = (proxy: ProxyOrder | null): void => {
  const server = proxy === null ? undefined : proxyServerOf(proxy.url);
  const own = server === undefined ? [] : [`${server.host}:${server.port}`];
  const allowed = new Set([...rules.addresses(), ...own]);
  const connect = Reflect.get(Socket.prototype, 'connect') as (...args: unknown[]) => Socket;
  Socket.prototype.connect = function guarded(this: Socket, ...args: unknown[]): Socket {
    const [first] = args;
    const given = (Array.isArray(first) ? first[0] : first) as { host?: string; port?: number | string } | undefined;
    if (typeof given !== 'object' || !allowed.has(`${given.host ?? ''}:${given.port ?? ''}`))
      throw new Error(`a connection to ${given?.host ?? 'an unknown host'} is not allowed`);
    return Reflect.apply(connect, this, args);
  };
};

const work = async (order: Extract<FetcherOrder, { t: 'resolve' | 'fetch' }>, signal: AbortSignal): Promise<object> => {
  const { id } = order;
  if (order.t === 'fetch') return { t: 'fetched', id, bytes: await client.tarball(order.order, signal) };
  return { t: 'resolved', id, ...(await resolve(order.order, client, path.join(folder, `resolve-${id}`), signal)) };
};

const workName = (order: Extract<FetcherOrder, { t: 'resolve' | 'fetch' }>): string =>
  order.t === 'resolve'
    ? `the npm packages ${named(order.order.roots)} cannot be resolved`
    : `the npm package "${order.order.name}@${order.order.version}" cannot be downloaded`;

const run = async (order: Extract<FetcherOrder, { t: 'resolve' | 'fetch' }>): Promise<void> => {
  const { id } = order;
  const aborter = new AbortController();
  running.set(id, aborter);
  try {
    say(await work(order, aborter.signal));
  } catch (error) {
    const isRefusal = error instanceof Refusal;
    if (!isRefusal && !aborter.signal.aborted)
      process.stderr.write(`${rules.masked(String(error instanceof Error ? error.stack : error))}\n`);
    const message = isRefusal
      ? error.message
      : `${workName(order)}: ${error instanceof Error ? error.message : String(error)}`;
    say({
      t: 'failed',
      id,
      package: isRefusal ? error.packageName : '',
      message: rules.masked(message).slice(0, MAX_MESSAGE),
    });
  } finally {
    running.delete(id);
  }
};

const receive = (order: FetcherOrder): void => {
  switch (order.t) {
    case 'configure':
      rules = new RegistryRules(order.registries);
      client = new RegistryClient(rules, order.proxy === null ? fetch : proxiedFetch(order.proxy));
      folder = order.folder;
      guardConnections(order.proxy);
      return;
    case 'cancel':
      running.get(order.id)?.abort();
      return;
    case 'resolve':
    case 'fetch':
      void run(order);
  }
};

const down = new Socket({ fd: DOWN_FD, readable: true, writable: false });
const parser = new RecordParser(MAX_FETCHER_RECORD_BYTES, ({ json }) =>
  receive(JSON.parse(json.toString('utf8')) as FetcherOrder),
);
down.on('data', (chunk: Buffer) => parser.push(chunk));
down.on('error', () => process.exit(1));
down.on('end', () => process.exit(0));
