/** Ports of the sources context. The composition root provides them under these tokens. */
import { type Observation, type RunEnd, type SourceDefinition } from './published.js';
import { type SourcesView } from './sources-view.js';

/** Provides `HookRunner` of published.ts. */
export const HOOK_RUNNER = Symbol('HookRunner');
/** Provides `SourceTopics` of published.ts. */
export const SOURCE_TOPICS = Symbol('SourceTopics');
/** Provides `EndpointUrls` of domain/endpoint-urls.ts. */
export const ENDPOINT_URLS = Symbol('EndpointUrls');
export const MANUAL_RUNS = Symbol('ManualRuns');

/** Connected accounts, which app props refer to. */
export interface Accounts {
  /** Undefined for an account that does not exist in this workspace. */
  find(accountId: string, workspaceId: string): { readonly app: string } | undefined;
}
export const ACCOUNTS = Symbol('Accounts');

/** Changes of workflows that own sources. */
export interface OwnerChanges {
  /** Whether the workflow's stream has the event of this command. */
  isMade(workflowId: string, commandId: string): Promise<boolean>;
}
export const OWNER_CHANGES = Symbol('OwnerChanges');

/** An event of an app, for the sources of one workspace. */
export interface AppEvent {
  readonly workspaceId: string;
  /** Slug of the app. */
  readonly app: string;
  readonly eventName: string;
  /** Set for sources with this account only. */
  readonly accountId?: string;
  /** What `run` receives, as JSON. */
  readonly payload: string;
}

export interface SentAppEvent {
  /** One for each source that has the event. */
  readonly invocations: readonly { readonly id: string; readonly sourceId: string }[];
  /** Sources that the event is for and that do not have it. */
  readonly refused: readonly { readonly sourceId: string; readonly code: string; readonly message: string }[];
}

export interface AppEvents {
  /**
   * Resolves once the invocations are durable; without any when no source takes the event. Rejects with
   * request.too_large, source.too_many_matches, or source.unread_limit or source.overloaded when every source refuses
   * it.
   */
  send(event: AppEvent): Promise<SentAppEvent>;
}
export const APP_EVENTS = Symbol('AppEvents');

/** What a source had lately. Times are epoch milliseconds; null for none. */
export interface SourceCounts {
  readonly lastEventAt: number | null;
  readonly lastErrorAt: number | null;
  /** In this hour and the 23 before. */
  readonly events: number;
  readonly errors: number;
}
/** Resolves in the order of the ids. */
export type SourceCountsReader = (sourceIds: readonly string[], now: number) => Promise<readonly SourceCounts[]>;
export const SOURCE_COUNTS = Symbol('SourceCounts');

/** Every source in memory. */
export type KnownSourceStates = Pick<SourcesView, 'states' | 'armed'>;
export const SOURCE_STATES = Symbol('KnownSourceStates');

export interface TimerSchedules {
  /** The first tick after `after`, in epoch milliseconds like `since`. Undefined when there is none. */
  next(
    timer: { readonly cron: string | null; readonly intervalSeconds: number | null; readonly timezone: string | null },
    since: number,
    after: number,
  ): number | undefined;
}
export const TIMER_SCHEDULES = Symbol('TimerSchedules');

export interface ManualRun {
  readonly invocationId: string;
  /** Observations of the run in order. Set only with `wait`. */
  readonly observations?: readonly Observation[];
  /** Whether the run had ended when the wait was over. Set only with `wait`. */
  readonly ended?: boolean;
  /** How it ended. Set only for a run that had ended. */
  readonly end?: RunEnd;
}

export interface ManualRuns {
  /**
   * Resolves when the invocation is durable, or with `wait` when the run has ended, even by an error. An undefined
   * `event` means the event of the source's first timer, or `{}` without a timer. Rejects with source.unread_limit or
   * source.overloaded when the source has too much to do.
   */
  run(sourceId: string, workspaceId: string, event: unknown, wait: boolean): Promise<ManualRun>;
}

/** Reads `$.service.db` of sources. */
export interface SourceDbs {
  /** JSON text by key as of the last commit, with the secrets of the definition masked in keys and values. */
  of(sourceId: string, workspaceId: string, definition: SourceDefinition): Promise<Readonly<Record<string, string>>>;
}
export const SOURCE_DBS = Symbol('SourceDbs');
