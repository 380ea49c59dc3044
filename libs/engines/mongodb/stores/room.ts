import { type DataStoreLimits } from '#libs/component-model/data-store-calls.js';
import { storeFull } from '#libs/data-stores/data-store-records.js';

/** Use of a store. */
export interface Used {
  readonly keys: number;
  readonly bytes: number;
}

/** Most that a write adds. It counts as a new key until the store's documents show otherwise. */
export interface Wanted extends Used {
  readonly storeId: string;
}

interface Sums {
  readonly at: number;
  readonly stores: Map<string, Used>;
}

interface Workspace {
  sums?: Sums;
  reading?: Promise<Sums>;
  deciding?: Promise<unknown>;
  /** Writes in flight, which have their room. */
  readonly inFlight: Map<Wanted, Promise<unknown>>;
  /** Writes that the sums being read may lack. */
  perhapsMissed: Set<Wanted>;
}

/** Age in milliseconds after which the sums of a workspace are read again, because other processes write too. */
const SUMS_MS = 1_000;
/** Workspaces whose sums are kept. */
const MAX_WORKSPACES = 1_000;

/**
 * Keeps the writes of this process within the limits of a workspace. Sums are read once a second, and later writes are
 * added to them. A write that seems not to fit waits until every other has ended and is then decided by exact sums.
 */
export class Room {
  private readonly workspaces = new Map<string, Workspace>();

  constructor(
    private readonly limits: DataStoreLimits,
    private readonly read: (workspaceId: string) => Promise<Map<string, Used>>,
  ) {}

  /**
   * Runs a write that has room. Rejects with `data_store.full` before the write otherwise. `exactly` removes expired
   * records and returns the real growth; it is called only when the store seems full.
   */
  async during<T>(
    workspaceId: string,
    wanted: Wanted,
    exactly: () => Promise<Wanted>,
    write: () => Promise<T>,
  ): Promise<T> {
    const workspace = this.workspaceOf(workspaceId);
    for (;;) {
      while (workspace.deciding) await workspace.deciding.catch(() => undefined);
      const sums = await this.sumsOf(workspaceId, workspace);
      // There is no await from here to the count, so two writes never use the same room.
      if (workspace.deciding) continue;
      if (!this.overOf(sums, wanted)) return this.counted(workspace, sums, wanted, write);
      return this.decided(workspaceId, workspace, exactly, write);
    }
  }

  /** Forgets the sums, after documents were removed. */
  forget(workspaceId: string): void {
    const workspace = this.workspaces.get(workspaceId);
    if (workspace) delete workspace.sums;
  }

  forgetAll(): void {
    for (const workspace of this.workspaces.values()) delete workspace.sums;
  }

  private workspaceOf(id: string): Workspace {
    const known = this.workspaces.get(id);
    if (known) return known;
    const workspace: Workspace = { inFlight: new Map(), perhapsMissed: new Set() };
    this.workspaces.set(id, workspace);
    if (this.workspaces.size > MAX_WORKSPACES) {
      const idle = [...this.workspaces].find(([, each]) => each.inFlight.size === 0 && !each.reading && !each.deciding);
      if (idle && idle[0] !== id) this.workspaces.delete(idle[0]);
    }
    return workspace;
  }

  private async sumsOf(workspaceId: string, workspace: Workspace): Promise<Sums> {
    if (workspace.sums && performance.now() - workspace.sums.at < SUMS_MS) return workspace.sums;
    workspace.reading ??= this.readSums(workspaceId, workspace).finally(() => delete workspace.reading);
    return workspace.reading;
  }

  /** Counts a write in flight as missing in the sums, although they may include it. `decided` corrects an excess. */
  private async readSums(workspaceId: string, workspace: Workspace): Promise<Sums> {
    workspace.perhapsMissed = new Set(workspace.inFlight.keys());
    const sums: Sums = { at: performance.now(), stores: await this.read(workspaceId) };
    for (const each of workspace.perhapsMissed) count(sums, each);
    workspace.sums = sums;
    return sums;
  }

  private counted<T>(workspace: Workspace, sums: Sums, wanted: Wanted, write: () => Promise<T>): Promise<T> {
    count(sums, wanted);
    const written = write().finally(() => workspace.inFlight.delete(wanted));
    workspace.inFlight.set(wanted, written);
    workspace.perhapsMissed.add(wanted);
    return written;
  }

  private async decided<T>(
    workspaceId: string,
    workspace: Workspace,
    exactly: () => Promise<Wanted>,
    write: () => Promise<T>,
  ): Promise<T> {
    const decision = (async () => {
      await Promise.allSettled([...workspace.inFlight.values(), workspace.reading]);
      const wanted = await exactly();
      const sums = await this.readSums(workspaceId, workspace);
      const over = this.overOf(sums, wanted);
      if (over) throw over;
      return { written: this.counted(workspace, sums, wanted, write) };
    })();
    workspace.deciding = decision;
    const { written } = await decision.finally(() => delete workspace.deciding);
    return written;
  }

  private overOf({ stores }: Sums, wanted: Wanted): Error | undefined {
    const own = stores.get(wanted.storeId) ?? { keys: 0, bytes: 0 };
    const { limits } = this;
    const [keys, bytes] = [own.keys + wanted.keys, own.bytes + wanted.bytes];
    if (wanted.keys > 0 && keys > limits.keys) return storeFull('keys', limits.keys, keys);
    if (wanted.bytes <= 0) return undefined;
    if (bytes > limits.storeBytes) return storeFull('storeBytes', limits.storeBytes, bytes);
    let all = wanted.bytes;
    for (const store of stores.values()) all += store.bytes;
    return all > limits.workspaceBytes ? storeFull('workspaceBytes', limits.workspaceBytes, all) : undefined;
  }
}

const count = ({ stores }: Sums, { storeId, keys, bytes }: Wanted): void => {
  const own = stores.get(storeId) ?? { keys: 0, bytes: 0 };
  stores.set(storeId, { keys: own.keys + keys, bytes: own.bytes + bytes });
};
