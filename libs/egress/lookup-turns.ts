import { isIP } from 'node:net';
import { Budget } from '#libs/async/budget.js';
import { Semaphore } from '#libs/async/semaphore.js';
import { type GuardedLookup, normalizeHost } from './guarded-lookup.js';

export interface LookupTurnLimits {
  /** Look-ups that run at once, and those of one workspace. */
  readonly atOnce: number;
  readonly atOnceEach: number;
  /** Look-ups that run or wait, of one workspace and in all. */
  readonly held: number;
  readonly heldInAll: number;
}

/**
 * libuv reserves half of its four threads for the system's resolver, and a look-up occupies its thread until the
 * resolver gives up. One workspace may occupy one, so that its slow names leave the other to all others.
 */
export const SYSTEM_LOOKUPS: LookupTurnLimits = { atOnce: 2, atOnceEach: 1, held: 256, heldInAll: 4_096 };
/** Look-ups of other records need no thread. */
export const RECORD_LOOKUPS: LookupTurnLimits = { atOnce: 32, atOnceEach: 4, held: 256, heldInAll: 4_096 };

/** Look-ups of components, in turns by workspace (docs/reference/limits.md#name-lookups). */
export class LookupTurns {
  private readonly turns: Semaphore;
  private readonly held: Budget<'workspace'>;

  constructor(limits: LookupTurnLimits) {
    this.turns = new Semaphore(limits.atOnce, () => limits.atOnceEach);
    this.held = new Budget<'workspace'>({ workspace: limits.held, process: limits.heldInAll });
  }

  /**
   * Runs the look-up in its turn and keeps the turn until it ends, because it cannot be cancelled. Settles as it does;
   * rejects with the code TOO_MANY_LOOKUPS when too many run or wait, and CLOSED when no caller waits any more.
   */
  async run<T>(workspaceId: string, isWanted: () => boolean, look: () => Promise<T>): Promise<T> {
    const over = this.held.tryHold({ workspace: workspaceId }, 1);
    if (over) {
      const whose = over.scope === 'process' ? 'of this server' : 'of this workspace';
      const text = `${over.limit} look-ups of names ${whose} run or wait already, which is the limit: look up fewer at once`;
      throw Object.assign(new Error(text), { code: 'TOO_MANY_LOOKUPS' });
    }
    try {
      return await this.turns.run(workspaceId, async () => {
        if (!isWanted()) throw Object.assign(new Error('the look-up was given up'), { code: 'CLOSED' });
        return await look();
      });
    } finally {
      this.held.release({ workspace: workspaceId }, 1);
    }
  }

  /** The lookup for one workspace. An address needs no turn, and look-ups of one host at the same time share theirs. */
  lookupFor(workspaceId: string, lookup: GuardedLookup): GuardedLookup {
    const asked = new Map<string, ReturnType<GuardedLookup>>();
    return async (host) => {
      if (isIP(normalizeHost(host)) !== 0) return lookup(host);
      const running = asked.get(host);
      if (running !== undefined) return running;
      const always = (): boolean => true;
      const answer = this.run(workspaceId, always, () => lookup(host)).finally(() => asked.delete(host));
      asked.set(host, answer);
      return answer;
    };
  }
}
