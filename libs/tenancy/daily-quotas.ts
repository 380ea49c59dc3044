import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Usage } from './published.js';

/** Injects the credits that a workspace may use in a UTC day, a number; 0 stands for no limit. */
export const DAILY_CREDITS = Symbol('DailyCredits');

export interface QuotaExceeded {
  readonly quota: 'credits';
  readonly limit: number;
  readonly actual: number;
  /** Names the quota, the usage, and the time at which it starts again. */
  readonly text: string;
  readonly retryAfterS: number;
}

export interface QuotaKeeperDependencies {
  readonly usage: Usage;
  /** Credits that a workspace may use in a UTC day; 0 stands for no limit. */
  readonly credits: number;
  readonly clock: Clock;
  /** Called when usage cannot be read. The work is then admitted. */
  readonly onFailure: (error: unknown) => void;
}

/** Age above which usage is read again. */
const FRESH_MS = 1_000;
const DAY_MS = 86_400_000;

interface Known {
  readonly day: number;
  readonly readAt: number;
  readonly exceeded: QuotaExceeded | undefined;
}

/**
 * Decides whether a workspace may start more runs today (docs/reference/rest-api.md#quotas). Runs count when they have
 * ended, so runs in flight may still exceed a quota.
 */
export class QuotaKeeper {
  private readonly known = new Map<string, Known>();
  private readonly reading = new Map<string, Promise<Known | undefined>>();

  constructor(private readonly deps: QuotaKeeperDependencies) {}

  /** Returns undefined at once when there is no limit. */
  exceededBy(workspaceId: string): QuotaExceeded | undefined | Promise<QuotaExceeded | undefined> {
    const { credits, clock } = this.deps;
    if (credits === 0) return undefined;
    const now = clock.now();
    const known = this.known.get(workspaceId);
    if (known?.day !== dayOf(now)) return this.read(workspaceId).then((read) => read?.exceeded);
    // Decides on what is known, so that no arrival waits for the store, and reads for those to come.
    if (now - known.readAt > FRESH_MS) void this.read(workspaceId);
    return known.exceeded;
  }

  /** Rejects with workspace.quota_exceeded. */
  async mustHaveLeft(workspaceId: string): Promise<void> {
    const exceeded = await this.exceededBy(workspaceId);
    if (exceeded === undefined) return;
    const { quota, limit, actual, text, retryAfterS } = exceeded;
    throw new DomainError('workspace.quota_exceeded', text, { quota, limit, actual, retry_after: retryAfterS });
  }

  /** One reading of a workspace at a time. Never rejects. */
  private read(workspaceId: string): Promise<Known | undefined> {
    const running = this.reading.get(workspaceId);
    if (running) return running;
    const reading = this.readOnce(workspaceId).finally(() => this.reading.delete(workspaceId));
    this.reading.set(workspaceId, reading);
    return reading;
  }

  private async readOnce(workspaceId: string): Promise<Known | undefined> {
    const { usage, credits, clock, onFailure } = this.deps;
    const readAt = clock.now();
    const day = dayOf(readAt);
    try {
      const used = await usage.ofToday(workspaceId);
      for (const [id, known] of this.known) if (known.day !== day) this.known.delete(id);
      const known = { day, readAt, exceeded: exceededOf(workspaceId, used.credits, credits, readAt) };
      this.known.set(workspaceId, known);
      return known;
    } catch (error) {
      onFailure(error);
      return undefined;
    }
  }
}

const dayOf = (now: number): number => Math.floor(now / DAY_MS);

const exceededOf = (workspaceId: string, actual: number, limit: number, now: number): QuotaExceeded | undefined => {
  if (actual < limit) return undefined;
  const resetsAt = (dayOf(now) + 1) * DAY_MS;
  const text =
    `workspace ${workspaceId} has used ${actual} of its ${limit} credits of today: it may start runs again at ` +
    `${new Date(resetsAt).toISOString()}, or have SLUICE_DAILY_CREDITS raised`;
  return { quota: 'credits', limit, actual, text, retryAfterS: Math.ceil((resetsAt - now) / 1_000) };
};
