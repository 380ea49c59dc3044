import { chmod, lstat, mkdir, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { type AddressPolicy } from './address-policy.js';
import { EgressTunnel, type EgressConnection, type TunnelLimits } from './egress-tunnel.js';
import { guardedLookup, type GuardedLookup } from './guarded-lookup.js';
import { type OutgoingProxy } from './outgoing-proxy.js';
import { LookupTurns, RECORD_LOOKUPS, SYSTEM_LOOKUPS } from './lookup-turns.js';
import { WaitingClients } from './waiting-clients.js';
import { type Names, type RecordResolver } from './name-answers.js';

export interface EgressSocketLimits extends TunnelLimits {
  /** Limit of connections open at once on this socket. As many more wait until one has ended. */
  readonly maxConnections: number;
  /** Longest wait, below the 10 s after which clients such as fetch give up, so that they get the reason. */
  readonly waitMs: number;
}

export const DEFAULT_EGRESS_LIMITS: EgressSocketLimits = {
  // Above the number of runs that a workflow's process executes at once, so that each may have one.
  maxConnections: 128,
  waitMs: 8_000,
  requestMs: 5000,
  connectMs: 10_000,
  idleMs: 120_000,
  maxBytes: 1024 ** 3,
  refusedPorts: [25, 465, 587],
};

export type { EgressConnection };

export interface EgressSocketOptions {
  /** Path of the unix socket, at most 107 bytes. A stale socket file is replaced; any other file there is an error. */
  readonly path: string;
  readonly policy: AddressPolicy;
  /** Called at the end of each connection that sent a request. */
  readonly onConnection?: (connection: EgressConnection) => void;
  readonly limits?: Partial<EgressSocketLimits>;
  /** Lookup of hosts, by default the system's resolver behind the policy. */
  readonly lookup?: GuardedLookup;
  /** The operator's proxy. */
  readonly proxy?: OutgoingProxy | undefined;
  /** Workspace whose look-ups take turns with those of others. */
  readonly workspaceId?: string;
  /** Turns that all sockets of the process share. */
  readonly turns?: EgressTurns;
  /** For tests: looks up records besides addresses. */
  readonly records?: RecordResolver;
}

/** Turns of look-ups: for addresses by the system's resolver, and for other records. */
export interface EgressTurns {
  readonly addresses: LookupTurns;
  readonly records: LookupTurns;
}

export const egressTurns = (): EgressTurns => ({
  addresses: new LookupTurns(SYSTEM_LOOKUPS),
  records: new LookupTurns(RECORD_LOOKUPS),
});

export interface EgressSocket {
  readonly path: string;
  /** Number of open connections. */
  connections(): number;
  /** Ends all connections and removes the socket file. Idempotent. */
  close(): Promise<void>;
}

const MAX_PATH_BYTES = 107;

/**
 * Opens the only way out of a sandboxed process (docs/reference/component-model.md#egress-guard). A client connects to
 * the unix socket and writes one line `CONNECT <host> <port>\n`, at most 1 KB within 5 s. It reads `OK\n` or
 * `ERR <CODE> <text>\n`. After OK the bytes of both sides are forwarded as they arrive. Codes: `BAD_REQUEST`,
 * `EGRESS_REFUSED`, `TOO_MANY_CONNECTIONS`, `TIMEOUT`, and the system's (`ENOTFOUND`, `ECONNREFUSED`, …).
 * The line may instead be `LOOKUP <type> <name>\n`, which name-answers.ts answers with `OK <JSON>\n`.
 */
export const openEgressSocket = async (options: EgressSocketOptions): Promise<EgressSocket> => {
  const limits = { ...DEFAULT_EGRESS_LIMITS, ...options.limits };
  const { policy, workspaceId = '', turns = egressTurns() } = options;
  const lookup = turns.addresses.lookupFor(workspaceId, options.lookup ?? guardedLookup(policy));
  const { records, proxy } = options;
  const areElsewhere = proxy?.resolvesNames === true;
  const asking = { policy, lookup, workspaceId, areElsewhere, turns: turns.records };
  const names: Names = { ...asking, ...(records ? { records } : {}) };
  const open = new Set<EgressTunnel>();
  await freePath(options.path);

  const refuse = (client: Socket): void => {
    client.on('error', () => client.destroy());
    client.end(`ERR TOO_MANY_CONNECTIONS limit of ${limits.maxConnections} open connections reached, close some\n`);
    client.destroySoon();
  };
  const waiting = new WaitingClients(limits.maxConnections, limits.waitMs, refuse);
  const begin = (client: Socket): void => {
    const ended = (connection: EgressConnection | undefined): void => {
      open.delete(tunnel);
      if (connection !== undefined) options.onConnection?.(connection);
      const next = server.listening ? waiting.next() : undefined;
      if (next) begin(next);
    };
    const tunnel: EgressTunnel = new EgressTunnel(client, lookup, limits, ended, names, options.proxy);
    open.add(tunnel);
    tunnel.start();
  };
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client: Socket) => {
    if (open.size < limits.maxConnections) begin(client);
    else waiting.add(client);
  });
  await listen(server, options.path);
  // The jail runs under another uid, so every user who can reach the directory may connect.
  await chmod(options.path, 0o666);

  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= new Promise<void>((resolve, reject) => {
      server.close((error) => (error ? reject(error) : resolve()));
      for (let client = waiting.next(); client; client = waiting.next()) client.destroy();
      for (const tunnel of open) tunnel.end('CLOSED');
    }).then(() => rm(options.path, { force: true })));
  return { path: options.path, connections: () => open.size, close };
};

const freePath = async (path: string): Promise<void> => {
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_PATH_BYTES) {
    throw new Error(
      `egress socket path ${path} has ${bytes} bytes, at most ${MAX_PATH_BYTES}: use a shorter directory`,
    );
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o711 });
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error(`egress socket path ${path} is taken by something that is not a socket`);
  await rm(path);
};

const listen = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
