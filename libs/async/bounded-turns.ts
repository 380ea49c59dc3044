import { Budget, type OverBudget } from './budget.js';
import { Semaphore } from './semaphore.js';

type Scope = 'user' | 'workspace';

/** Workspace and user that a work counts for. */
export interface TurnHolder {
  readonly workspaceId: string;
  /** Absent for works that are counted by workspace alone. */
  readonly userId?: string;
}

export interface TurnLimits {
  /** Number of concurrent works. One workspace holds half of them at most, and so does one user. */
  readonly atOnce: number;
  /** Number of waiting works of one workspace, and of one user. */
  readonly waiting: number;
  readonly waitingInAll: number;
  /** Bytes that waiting works hold. Absent where these are negligible. */
  readonly waitingBytes?: number;
  readonly waitingBytesInAll?: number;
}

/** Why a work may not wait. */
export interface FullTurns extends OverBudget<Scope> {
  readonly unit: 'works' | 'bytes';
}

/**
 * Works that take turns by workspace, with a bounded queue. Slow works delay only those of their own workspace and user,
 * because neither holds more than half of the slots.
 */
export class BoundedTurns {
  private readonly users: Semaphore;
  private readonly workspaces: Semaphore;
  private readonly waiting: Budget<Scope>;
  private readonly bytes: Budget<Scope>;

  /** @param full makes the error with which a work is refused that would have to wait in a full queue. */
  constructor(
    limits: TurnLimits,
    private readonly full: (why: FullTurns) => Error,
  ) {
    const { atOnce, waiting, waitingInAll, waitingBytes = Infinity, waitingBytesInAll = Infinity } = limits;
    const half = Math.max(1, Math.floor(atOnce / 2));
    this.users = new Semaphore(Infinity, () => half);
    this.workspaces = new Semaphore(atOnce, () => half);
    this.waiting = new Budget<Scope>({ user: waiting, workspace: waiting, process: waitingInAll });
    this.bytes = new Budget<Scope>({ user: waitingBytes, workspace: waitingBytes, process: waitingBytesInAll });
  }

  /**
   * Runs the work in its turn, at once when a slot is free. Settles as the work does; rejects with the error of `full`.
   * @param bytes that the work holds while it waits.
   */
  async run<T>(holder: TurnHolder, bytes: number, work: () => Promise<T>): Promise<T> {
    if (!this.tryEnter(holder)) await this.waitingFor(holder, bytes, () => this.enter(holder));
    try {
      return await work();
    } finally {
      this.leave(holder);
    }
  }

  /** Counts a wait for something else in the same queue. Settles as it does; rejects with the error of `full`. */
  async waitingFor<T>({ workspaceId, userId }: TurnHolder, bytes: number, awaited: () => Promise<T>): Promise<T> {
    const holders = { workspace: workspaceId, ...(userId === undefined ? {} : { user: userId }) };
    const overWorks = this.waiting.over(holders, 1);
    if (overWorks) throw this.full({ ...overWorks, unit: 'works' });
    const overBytes = this.overBytes(holders, bytes);
    if (overBytes) throw this.full({ ...overBytes, unit: 'bytes' });
    this.waiting.hold(holders, 1);
    this.bytes.hold(holders, bytes);
    try {
      return await awaited();
    } finally {
      this.waiting.release(holders, 1);
      this.bytes.release(holders, bytes);
    }
  }

  /** The first waiting work of a scope always fits, whatever its size. */
  private overBytes(holders: Partial<Record<Scope, string>>, bytes: number): OverBudget<Scope> | undefined {
    if (this.waiting.inUse === 0) return undefined;
    const { user, workspace } = holders;
    const isFirst = (scope: Scope, holder: string | undefined): boolean =>
      holder === undefined || this.waiting.heldBy(scope, holder) === 0;
    return this.bytes.over(
      {
        ...(user === undefined || isFirst('user', user) ? {} : { user }),
        ...(workspace === undefined || isFirst('workspace', workspace) ? {} : { workspace }),
      },
      bytes,
    );
  }

  private tryEnter({ workspaceId, userId }: TurnHolder): boolean {
    if (userId !== undefined && !this.users.tryAcquire(userId)) return false;
    if (this.workspaces.tryAcquire(workspaceId)) return true;
    if (userId !== undefined) this.users.release(userId);
    return false;
  }

  /** The user's slot is acquired first, so that works of one user with many workspaces use no turns of others. */
  private async enter({ workspaceId, userId }: TurnHolder): Promise<void> {
    if (userId !== undefined) await this.users.acquire(userId);
    await this.workspaces.acquire(workspaceId);
  }

  private leave({ workspaceId, userId }: TurnHolder): void {
    this.workspaces.release(workspaceId);
    if (userId !== undefined) this.users.release(userId);
  }
}
