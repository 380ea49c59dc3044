import { mkdtemp, rm } from 'node:fs/promises';
import { chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AddressPolicy } from './address-policy.js';
import { EgressUsage } from './egress-usage.js';
import { type GuardedLookup } from './guarded-lookup.js';
import { type EgressSocket, type EgressSocketLimits, openEgressSocket } from './egress-socket.js';

/** One egress socket per sandboxed source, opened on first use. Limits are per source, so none can starve another. */
export class EgressSockets {
  readonly usage = new EgressUsage();
  private readonly open = new Map<string, Promise<EgressSocket>>();

  private constructor(
    private readonly folder: string,
    private readonly options: {
      readonly policy: AddressPolicy;
      readonly lookup: GuardedLookup;
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

  /** Path of the source's socket. Its connections count under `countedAs`. */
  async pathFor(sourceId: string, countedAs = sourceId): Promise<string> {
    let socket = this.open.get(sourceId);
    if (!socket) {
      socket = openEgressSocket({
        ...this.options,
        path: join(this.folder, sourceId),
        onConnection: (connection) => this.usage.note(countedAs, connection),
      });
      this.open.set(sourceId, socket);
      socket.catch(() => this.open.delete(sourceId));
    }
    return (await socket).path;
  }

  /** Ends the source's connections. Idempotent. */
  async drop(sourceId: string): Promise<void> {
    const socket = this.open.get(sourceId);
    this.open.delete(sourceId);
    await (await socket)?.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.open.keys()].map((sourceId) => this.drop(sourceId)));
    await rm(this.folder, { recursive: true, force: true });
  }
}
