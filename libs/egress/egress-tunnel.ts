import { type LookupAddress } from 'node:dns';
import { connect, type Socket } from 'node:net';
import { isNativeError } from 'node:util/types';
import { withDeadline } from '#libs/async/deadline.js';
import { EgressRefused } from './address-policy.js';
import { connectFailure } from './connect-failure.js';
import { type GuardedLookup } from './guarded-lookup.js';
import { type OutgoingProxy, type Route } from './outgoing-proxy.js';
import { answerLookup, isLookup, type Names } from './name-answers.js';

export interface TunnelLimits {
  /** Time allowed for the request line. */
  readonly requestMs: number;
  /** Time allowed for lookup and connect, over all addresses of the host. */
  readonly connectMs: number;
  /** Time without a byte in either direction after which the connection is closed. */
  readonly idleMs: number;
  /** Limit of bytes in both directions together. */
  readonly maxBytes: number;
  readonly refusedPorts: readonly number[];
}

/** Finished connection, for usage and logs. */
export interface EgressConnection {
  readonly host: string;
  readonly port: number;
  /** Address connected to; undefined when the connection never opened. */
  readonly address: string | undefined;
  /** Bytes sent out and received. */
  readonly sent: number;
  readonly received: number;
  readonly ms: number;
  /** `EGRESS_REFUSED`, `IDLE_TIMEOUT`, …; null for a normal end. */
  readonly error: string | null;
}

interface Target {
  readonly host: string;
  readonly port: number;
}

const MAX_LINE = 1024;

/** Failure that is reported to the client as `ERR <code> <message>`. */
class TunnelError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Connection of a sandboxed process: reads the request line, connects through the guard, forwards bytes both ways. */
export class EgressTunnel {
  private readonly startedAt = performance.now();
  private target: Target | undefined;
  private upstream: Socket | undefined;
  private address: string | undefined;
  private head: Buffer = Buffer.alloc(0);
  private sent = 0;
  private received = 0;
  private over = false;
  private requestTimer: NodeJS.Timeout | undefined;

  /** @param onEnd called once, without a connection when no request arrived. */
  constructor(
    private readonly client: Socket,
    private readonly lookup: GuardedLookup,
    private readonly limits: TunnelLimits,
    private readonly onEnd: (connection: EgressConnection | undefined) => void,
    private readonly names: Names,
    private readonly proxy?: OutgoingProxy,
  ) {}

  start(): void {
    const { client, limits } = this;
    client.on('error', (error: NodeJS.ErrnoException) => this.end(error.code ?? 'ERROR'));
    client.on('close', () => this.closed(this.upstream));
    const late = new TunnelError('BAD_REQUEST', `no request line within ${limits.requestMs} ms`);
    this.requestTimer = setTimeout(() => this.fail(late), limits.requestMs);
    client.on('data', this.onHead);
    client.on('end', this.onEarlyEnd);
    client.resume();
  }

  /** Ends both sides now. */
  end(error: string | null): void {
    if (this.over) return;
    this.over = true;
    clearTimeout(this.requestTimer);
    this.client.destroy();
    this.upstream?.destroy();
    this.report(error);
  }

  private report(error: string | null): void {
    const { target, address, sent, received } = this;
    const ms = Math.round(performance.now() - this.startedAt);
    this.onEnd(target === undefined ? undefined : { ...target, address, sent, received, ms, error });
  }

  /** Sends the reason to the client, then ends. */
  private fail(error: NodeJS.ErrnoException): void {
    if (this.over) return;
    this.over = true;
    clearTimeout(this.requestTimer);
    const code = error.code ?? 'ERROR';
    this.upstream?.destroy();
    this.client.removeListener('data', this.onHead);
    this.client.resume();
    this.client.end(`ERR ${code} ${error.message.replace(/\s+/g, ' ')}\n`);
    this.client.destroySoon();
    this.report(code);
  }

  private readonly onEarlyEnd = (): void =>
    this.fail(new TunnelError('BAD_REQUEST', 'the connection ended before the request line'));

  private readonly onHead = (chunk: Buffer): void => {
    this.head = this.head.length === 0 ? chunk : Buffer.concat([this.head, chunk]);
    const newline = this.head.indexOf(10);
    if (newline > MAX_LINE || (newline < 0 && this.head.length > MAX_LINE)) {
      this.fail(new TunnelError('BAD_REQUEST', `request line is longer than ${MAX_LINE} bytes`));
    } else if (newline >= 0) {
      const line = this.head.toString('latin1', 0, newline);
      // The bytes after the line belong to the connection.
      this.head = this.head.subarray(newline + 1);
      clearTimeout(this.requestTimer);
      this.client.pause();
      this.client.removeListener('data', this.onHead);
      this.client.removeListener('end', this.onEarlyEnd);
      const done = isLookup(line) ? this.answer(line) : this.open(line);
      done.catch((error: unknown) => this.fail(isNativeError(error) ? error : new Error(String(error))));
    }
  };

  private async answer(line: string): Promise<void> {
    const { connectMs } = this.limits;
    const late = (): Error => new TunnelError('ETIMEOUT', 'the look-up took too long');
    const until = Date.now() + connectMs;
    const isWanted = (): boolean => !this.over && Date.now() < until;
    const text = await withDeadline(answerLookup(line, this.names, isWanted), connectMs, late);
    if (this.over) return;
    this.over = true;
    // Bytes after the request line have no meaning here.
    this.client.resume();
    this.client.end(`OK ${text}\n`);
    this.client.destroySoon();
    this.report(null);
  }

  private async open(line: string): Promise<void> {
    const target = parseRequest(line);
    this.target = target;
    if (this.limits.refusedPorts.includes(target.port)) {
      const remedy = 'Mail is sent through a provider with an HTTP API';
      throw new EgressRefused(target.host, undefined, `port ${target.port} is for mail servers`, remedy);
    }
    const { connectMs } = this.limits;
    const deadline = Date.now() + connectMs;
    const late = (): Error => new TunnelError('TIMEOUT', `lookup of ${target.host} took too long`);
    const { proxy, lookup } = this;
    const looked = proxy?.route(target.host, target.port, lookup) ?? lookup(target.host);
    const found = await withDeadline<Route | readonly LookupAddress[]>(looked, connectMs, late);
    const hosts = 'hosts' in found ? found.hosts : found.map(({ address }) => address);
    const through = 'hosts' in found && !found.isDirect ? proxy : undefined;
    let last: unknown;
    for (const address of hosts) {
      if (this.over) return;
      try {
        const made = (socket: Socket): void => void (this.upstream = socket);
        const upstream = await (through === undefined
          ? dial(address, target, deadline, made)
          : dialThrough(through, address, target, deadline, made));
        this.address = address;
        this.join(upstream);
        return;
      } catch (error) {
        last = error;
      }
    }
    throw last;
  }

  private join(upstream: Socket): void {
    const { client } = this;
    if (this.over) {
      upstream.destroy();
      return;
    }
    upstream.setNoDelay(true);
    upstream.on('error', (error: NodeJS.ErrnoException) => this.end(error.code ?? 'ERROR'));
    // All bytes pass through the client's socket, so its idle time is the connection's.
    client.setTimeout(this.limits.idleMs, () => this.end('IDLE_TIMEOUT'));
    client.write('OK\n');
    if (this.head.length > 0) {
      this.sent += this.head.length;
      upstream.write(this.head);
      this.head = Buffer.alloc(0);
    }
    this.pump(client, upstream, (bytes) => (this.sent += bytes));
    this.pump(upstream, client, (bytes) => (this.received += bytes));
    upstream.on('close', () => this.closed(client));
  }

  /** Flushes the other side after one has closed, then ends. */
  private closed(other: Socket | undefined): void {
    if (this.over) return;
    if (other === undefined || other.connecting || other.writableFinished || other.destroyed) {
      this.end(null);
      return;
    }
    other.setTimeout(this.limits.idleMs, () => this.end('IDLE_TIMEOUT'));
    other.once('finish', () => this.end(null));
    other.end();
  }

  private pump(from: Socket, to: Socket, count: (bytes: number) => void): void {
    from.on('data', (chunk: Buffer) => {
      count(chunk.length);
      if (this.sent + this.received > this.limits.maxBytes) this.end('BYTE_LIMIT');
      else if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => from.resume());
    // On a half-close the other direction continues. A paused socket may have ended already.
    if (from.readableEnded) to.end();
    else from.on('end', () => to.end());
    from.resume();
  }
}

const parseRequest = (line: string): Target => {
  const match = /^CONNECT (\S+) (\d{1,5})\r?$/.exec(line);
  const port = Number(match?.[2] ?? 0);
  if (match?.[1] === undefined) throw new TunnelError('BAD_REQUEST', 'expected "CONNECT <host> <port>"');
  if (port < 1 || port > 65_535) throw new TunnelError('BAD_REQUEST', `port ${port} is not between 1 and 65535`);
  return { host: match[1], port };
};

/** Asks the proxy for a connection to `address`, a checked IP literal, or a name that the proxy resolves. */
const dialThrough = (
  proxy: OutgoingProxy,
  address: string,
  { host, port }: Target,
  deadline: number,
  made: (socket: Socket) => void,
): Promise<Socket> => {
  const place = `${host}:${port}`;
  const aborter = new AbortController();
  const late = (): Error => {
    const error = new TunnelError('TIMEOUT', `connecting to ${place} took too long`);
    aborter.abort(error);
    return error;
  };
  const opened = proxy.connect({ host: address, port, place }, { signal: aborter.signal, allowHalfOpen: true, made });
  return withDeadline(opened, Math.max(1, deadline - Date.now()), late);
};

/** Connects to `address`, which is a checked IP literal, so no lookup takes place. */
const dial = (
  address: string,
  { host, port }: Target,
  deadline: number,
  made: (socket: Socket) => void,
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, allowHalfOpen: true });
    made(socket);
    const place = `${host}:${port}`;
    const late = new TunnelError('TIMEOUT', `connecting to ${place} took too long`);
    const timer = setTimeout(() => socket.destroy(late), Math.max(1, deadline - Date.now()));
    const failed = (error?: Error): void => {
      clearTimeout(timer);
      reject(error ? connectFailure(error, place) : new TunnelError('CLOSED', 'the connection was closed'));
    };
    socket.once('error', failed);
    // The close event passes a boolean, and also follows an error.
    const closed = (): void => failed();
    socket.once('close', closed);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.removeListener('error', failed);
      socket.removeListener('close', closed);
      resolve(socket);
    });
  });
