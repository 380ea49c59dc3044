import { mkdtemp, rm } from 'node:fs/promises';
import { chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AddressPolicy } from './address-policy.js';
import { EgressUsage } from './egress-usage.js';
import { type GuardedLookup } from './guarded-lookup.js';
import { type OutgoingProxy } from './outgoing-proxy.js';
import { type EgressSocket, type EgressSocketLimits, egressTurns, openEgressSocket } from './egress-socket.js';

interface Held {
  readonly socket: Promise<EgressSocket>;
  /** Number of processes that use the socket. */
  users: number;
}

/**
 * One egress socket per sandboxed source, open while the source has a process. Limits are per source, so none can starve
 * another.
 */
export class EgressSockets {
  readonly usage = new EgressUsage();
  private readonly turns = egressTurns();
  private readonly open = new Map<string, Held>();
  /** Closing sockets keep their path, so each opening gets another one. */
  private opened = 0;
  private readonly closing = new Set<Promise<void>>();

  private constructor(
    private readonly folder: string,
    private readonly options: {
      readonly policy: AddressPolicy;
      readonly lookup: GuardedLookup;
      readonly proxy?: OutgoingProxy | undefined;
      readonly limits?: Partial<EgressSocketLimits>;
    },
  ) {}

  /** Makes the folder of the sockets, named with `prefix`, in the system's folder for temporary files. */
  static async create(prefix: string, options: EgressSockets['options']): Promise<EgressSockets> {
    const folder = await mkdtemp(join(tmpdir(), prefix));
    // Jailed processes run as other users, who may traverse the folder but not list it.
    chmodSync(folder, 0o711);
    return new EgressSockets(folder, options);
  }

  /**
   * Acquires the path of the source's socket, which is open until it is released as often. Its connections count under
   * `countedAs`, and its look-ups take turns with those of other workspaces.
   */
  async pathFor(workspaceId: string, sourceId: string, countedAs = sourceId): Promise<string> {
    let held = this.open.get(sourceId);
    if (!held) {
      const socket = openEgressSocket({
        ...this.options,
        workspaceId,
        turns: this.turns,
        path: join(this.folder, `${sourceId}-${++this.opened}`),
        onConnection: (connection) => this.usage.note(countedAs, connection),
      });
      held = { socket, users: 0 };
      this.open.set(sourceId, held);
      socket.catch(() => this.open.delete(sourceId));
    }
    held.users++;
    return (await held.socket).path;
  }

  /** Closes the socket once no process of the source uses it. */
  release(sourceId: string): void {
    const held = this.open.get(sourceId);
    if (!held || --held.users > 0) return;
    this.open.delete(sourceId);
    const closed = held.socket.then((socket) => socket.close());
    this.closing.add(closed);
    // close() waits for this and reports a failure.
    closed.then(
      () => this.closing.delete(closed),
      () => undefined,
    );
  }

  /** Open sockets. */
  get size(): number {
    return this.open.size;
  }

  async close(): Promise<void> {
    const open = [...this.open.values()].map(async ({ socket }) => (await socket).close());
    this.open.clear();
    await Promise.all([...open, ...this.closing]);
    await rm(this.folder, { recursive: true, force: true });
  }
}
