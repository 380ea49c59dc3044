import { BoundedTurns, type TurnLimits } from '#libs/async/bounded-turns.js';
import { DomainError } from '#libs/kernel/domain-error.js';

/** Calls hold next to nothing while they wait. */
export type CallLimits = Omit<TurnLimits, 'waitingBytes' | 'waitingBytesInAll'>;

export const DEFAULT_CALL_LIMITS: CallLimits = { atOnce: 8, waiting: 50, waitingInAll: 200 };

/**
 * Limits concurrent calls, because each takes a process. Workspaces take turns, and none holds more than half of the
 * slots, so slow code delays only its own workspace.
 */
export class CallTurns {
  private readonly turns: BoundedTurns;

  constructor(limits: CallLimits) {
    this.turns = new BoundedTurns(limits, ({ scope, limit }) => {
      const inAll = scope === 'process';
      const whose = inAll ? 'on this server' : 'of this workspace';
      const text = `${limit} calls of components ${whose} wait already, which is the limit: try again later`;
      const code = inAll ? 'component.calls_overloaded' : 'component.too_many_calls';
      return new DomainError(code, text, { waiting: limit, limit });
    });
  }

  /** Rejects with DomainError component.too_many_calls or component.calls_overloaded when the queue is full. */
  run<T>(workspaceId: string, call: () => Promise<T>): Promise<T> {
    return this.turns.run({ workspaceId }, 0, call);
  }
}
