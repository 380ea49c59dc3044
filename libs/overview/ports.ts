/** Ports of this context, which the composition root implements. Times are epoch milliseconds. */
import { type CountedMinute } from '#libs/tenancy/published.js';

/** What happened in workspaces, minute by minute. */
export interface MinuteReader {
  /** The last minutes in their order, each once, the present one last. */
  ofMinutes(workspaceId: string, minutes: number): Promise<readonly CountedMinute[]>;
}
export const MINUTES = Symbol('MinuteReader');

interface Named {
  readonly id: string;
  readonly name: string | null;
}

/** The resources of a workspace that emit, listen or receive. */
export interface Holdings {
  readonly sources: readonly Named[];
  readonly workflowIds: readonly string[];
  readonly webhooks: readonly (Named & {
    /** Reason why the server stopped delivering; null when it did not. */
    readonly disabledReason: string | null;
    readonly updatedAt: number;
  })[];
}
export interface HoldingsReader {
  of(workspaceId: string): Promise<Holdings>;
}
export const HOLDINGS = Symbol('HoldingsReader');

/** What sources had in 24 hours. Resolves in the order of the ids. */
export type SourceFailures = (
  sourceIds: readonly string[],
  now: number,
) => Promise<readonly { readonly errors: number; readonly lastErrorAt: number | null }[]>;

/** What became of the deliveries of webhooks lately. Resolves in the order of the ids. */
export interface WebhookFailures {
  of(webhookIds: readonly string[]): Promise<
    readonly {
      /** Whether the newest attempt failed, or a delivery was given up in 24 hours. */
      readonly isFailing: boolean;
      readonly failed: number;
      readonly lastAttemptAt: number | null;
    }[]
  >;
}

/** Deliveries of webhooks that are not ended. Resolves with their numbers, in the order of the ids. */
export interface UnendedDeliveries {
  of(webhookIds: readonly string[]): Promise<readonly number[]>;
}

/** Accounts whose tokens cannot be refreshed, so that only new credentials help. */
export interface DeadAccounts {
  of(workspaceId: string): Promise<
    readonly (Named & {
      readonly app: string;
      readonly reason: string;
      /** When its last token ended. */
      readonly expiredAt: number;
    })[]
  >;
}

/** What keeps a workspace, or all of them, from going on. Each is a text for people; undefined for nothing. */
export interface Refusals {
  quotaOf(workspaceId: string): Promise<string | undefined>;
  disk(): string | undefined;
}

/** Work that waits in the log, as the roles of this process know it. */
export interface BacklogHere {
  /** Invocations of a source or workflow whose runs have not ended. */
  waitingFor(id: string): number;
  /** Emits that are not routed. */
  unroutedOf(id: string): number;
}
