import { Semaphore } from '#libs/async/semaphore.js';
import { DomainError } from '../../kernel/domain-error.js';

export interface CallLimits {
  /** Number of concurrent calls. One workspace holds half of them at most. */
  readonly atOnce: number;
  /** Number of waiting calls of one workspace. */
  readonly waiting: number;
  readonly waitingInAll: number;
}

export const DEFAULT_CALL_LIMITS: CallLimits = { atOnce: 8, waiting: 50, waitingInAll: 200 };

/**
 * Limits concurrent calls, because each takes a process. Workspaces take turns, and none holds more than half of the
 * slots, so slow code delays only its own workspace.
 */
export class CallTurns {
  private readonly slots: Semaphore;
  private readonly waiting = new Map<string, number>();
  private waitingInAll = 0;

  constructor(private readonly limits: CallLimits) {
    const perWorkspace = Math.max(1, Math.floor(limits.atOnce / 2));
    this.slots = new Semaphore(limits.atOnce, () => perWorkspace);
  }

  /** Rejects with DomainError component.too_many_calls or component.calls_overloaded when the queue is full. */
  async run<T>(workspaceId: string, call: () => Promise<T>): Promise<T> {
    if (!this.slots.tryAcquire(workspaceId)) {
      this.admit(workspaceId);
      await this.slots.acquire(workspaceId).finally(() => this.wait(workspaceId, -1));
    }
    try {
      return await call();
    } finally {
      this.slots.release(workspaceId);
    }
  }

  private admit(workspaceId: string): void {
    const own = this.waiting.get(workspaceId) ?? 0;
    const { waiting, waitingInAll } = this.limits;
    if (own >= waiting) throw full('component.too_many_calls', 'of this workspace', own, waiting);
    if (this.waitingInAll >= waitingInAll)
      throw full('component.calls_overloaded', 'on this server', this.waitingInAll, waitingInAll);
    this.wait(workspaceId, 1);
  }

  private wait(workspaceId: string, count: number): void {
    const left = (this.waiting.get(workspaceId) ?? 0) + count;
    if (left > 0) this.waiting.set(workspaceId, left);
    else this.waiting.delete(workspaceId);
    this.waitingInAll += count;
  }
}

const full = (
  code: 'component.too_many_calls' | 'component.calls_overloaded',
  whose: string,
  waiting: number,
  limit: number,
): DomainError =>
  new DomainError(
    code,
    `${waiting} calls of components ${whose} wait already, the limit is ${limit}: try again later`,
    {
      waiting,
      limit,
    },
  );
