import { setImmediate as turn } from 'node:timers/promises';
import {
  type DeadAccounts,
  type Holdings,
  type Refusals,
  type SourceFailures,
  type WebhookFailures,
} from '../ports.js';

export const PROBLEM_KINDS = [
  'disk_low',
  'quota_exceeded',
  'account_not_refreshed',
  'webhook_disabled',
  'webhook_failing',
  'source_failing',
] as const;

/** Something that a user should attend to. */
export interface Problem {
  readonly kind: (typeof PROBLEM_KINDS)[number];
  /** Id of the resource that it concerns, or of the workspace. */
  readonly subject: string;
  readonly name: string | null;
  readonly message: string;
  /** Last sign of it, in epoch milliseconds; null for what is so now. */
  readonly since: number | null;
}

export interface ProblemsOptions {
  readonly failures: SourceFailures;
  readonly deliveries: WebhookFailures;
  readonly accounts: DeadAccounts;
  readonly refusals: Refusals;
}

export const MOST_PROBLEMS = 100;
/** Sources that are looked at in one turn of the event loop. */
const TOGETHER = 500;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** Finds what a user of a workspace should attend to. */
export class Problems {
  constructor(private readonly options: ProblemsOptions) {}

  /**
   * Resolves with what is so now first, then the newest.
   * @param waiting ids of webhooks with deliveries that are not ended.
   */
  async of(
    workspaceId: string,
    holdings: Holdings,
    waiting: readonly string[],
    now: number,
  ): Promise<readonly Problem[]> {
    const all = [
      ...(await this.refused(workspaceId)),
      ...(await this.deadAccounts(workspaceId)),
      ...disabled(holdings),
      ...(await this.failingWebhooks(holdings, waiting)),
      ...(await this.failingSources(holdings, now)),
    ];
    return all.sort(newestFirst).slice(0, MOST_PROBLEMS);
  }

  private async refused(workspaceId: string): Promise<readonly Problem[]> {
    const { refusals } = this.options;
    const problem = (kind: Problem['kind'], message: string | undefined): readonly Problem[] =>
      message === undefined ? [] : [{ kind, subject: workspaceId, name: null, message, since: null }];
    return [...problem('disk_low', refusals.disk()), ...problem('quota_exceeded', await refusals.quotaOf(workspaceId))];
  }

  private async deadAccounts(workspaceId: string): Promise<readonly Problem[]> {
    const dead = await this.options.accounts.of(workspaceId);
    return dead.map(({ id, name, app, reason, expiredAt }) => ({
      kind: 'account_not_refreshed',
      subject: id,
      name,
      message: `the account of ${app} must be connected again: ${reason}`,
      since: expiredAt,
    }));
  }

  private async failingWebhooks({ webhooks }: Holdings, waiting: readonly string[]): Promise<readonly Problem[]> {
    const ids = waiting.slice(0, MOST_PROBLEMS);
    const named = new Map(webhooks.map(({ id, name }) => [id, name]));
    const stats = await this.options.deliveries.of(ids);
    return ids.flatMap((subject, i): readonly Problem[] => {
      const { isFailing = false, failed = 0, lastAttemptAt = null } = stats[i] ?? {};
      if (!isFailing) return [];
      const message = `deliveries to it wait; ${failed} were given up in 24 hours`;
      return [{ kind: 'webhook_failing', subject, name: named.get(subject) ?? null, message, since: lastAttemptAt }];
    });
  }

  private async failingSources({ sources }: Holdings, now: number): Promise<readonly Problem[]> {
    const found: Problem[] = [];
    for (let from = 0; from < sources.length; from += TOGETHER) {
      if (from > 0) await turn();
      const some = sources.slice(from, from + TOGETHER);
      const failures = await this.options.failures(
        some.map(({ id }) => id),
        now,
      );
      for (const [i, { id, name }] of some.entries()) {
        const { errors = 0, lastErrorAt = null } = failures[i] ?? {};
        if (lastErrorAt === null || lastErrorAt < now - DAY_MS) continue;
        const message = `${errors} ${errors === 1 ? 'error' : 'errors'} in 24 hours`;
        found.push({ kind: 'source_failing', subject: id, name, message, since: lastErrorAt });
      }
    }
    return found;
  }
}

const disabled = ({ webhooks }: Holdings): readonly Problem[] =>
  webhooks.flatMap(({ id, name, disabledReason, updatedAt }): readonly Problem[] => {
    if (disabledReason === null) return [];
    const message = `the server disabled it: ${disabledReason}`;
    return [{ kind: 'webhook_disabled', subject: id, name, message, since: updatedAt }];
  });

const newestFirst = (a: Problem, b: Problem): number =>
  (b.since ?? Number.MAX_SAFE_INTEGER) - (a.since ?? Number.MAX_SAFE_INTEGER);
