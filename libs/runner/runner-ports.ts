/** Ports that the runner needs from other rooms. */
import { type InstallPackages } from './packages-beside.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type SourceDefinition } from '#libs/sources/published.js';
import { type DelayedEvents } from '#libs/stream-log/delayed-events.js';
import { type HandedOver } from '#libs/stream-log/handed-over.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type HostDeaths } from './host-deaths.js';
import { type RunJournal } from './run-journal.js';
import { type CommitRouting } from './source-routing.js';
import { type BoundProp, type RunOutcome, type Sandbox, type SandboxSpec } from '#libs/sandbox/index.js';
import { type HttpReply } from '#libs/component-model/run-output.js';

/** Credentials of connected accounts, for `$auth`. */
export interface AccountAuths {
  /** Returns a text that changes with the credentials; undefined for an account that this workspace does not have. */
  versionOf(accountId: string, workspaceId: string): string | undefined;
  /**
   * Undefined while the token is valid. Else resolves once there is a new one, and rejects with account.not_refreshed.
   */
  freshen(accountId: string, workspaceId: string): Promise<void> | undefined;
  /** Resolves with an empty object for an account that does not exist. */
  authOf(accountId: string, workspaceId: string): Promise<Readonly<Record<string, unknown>>>;
}

export interface RunnableSource {
  readonly workspaceId: string;
  readonly definition: SourceDefinition;
}

/**
 * Sources according to the event log. `find` returns undefined for a source that is unknown, deleted or not deployed.
 */
export interface RunnableSources {
  find(sourceId: string): RunnableSource | undefined;
}

/** Keeps `RunnableSources` up to date with the event log, to which other processes also write. */
export interface LogFollower {
  /** Resolves to true once everything up to `position` is applied, to false after `timeoutMs`. */
  waitFor(position: Position, timeoutMs: number): Promise<boolean>;
  /** Resolves once the current content of the event log is applied. Rejects after `timeoutMs`. */
  upToDate(timeoutMs: number): Promise<void>;
}

/** Warm processes, one per source. */
export interface Sandboxes {
  /**
   * Returns the source's live process, or starts one with `spec`. Rejects when it cannot start, with BundleNotLoaded
   * when the author's bundle is the cause.
   */
  acquire(sourceId: string, workspaceId: string, spec: () => Promise<SandboxSpec>): Promise<Sandbox>;
  /** Ends the source's process. Idempotent. */
  drop(sourceId: string): Promise<void>;
}

/** Turns a definition into the props bound on `this`: endpoints with their URLs, secrets from the vault. */
export interface PropBinder {
  /** Returns a text that changes with what `bind` reads outside of the definition, such as credentials. */
  versionOf(workspaceId: string, definition: SourceDefinition): string;
  /** Refreshes expired tokens before they are bound. Undefined when none has expired. */
  freshen(workspaceId: string, definition: SourceDefinition): Promise<void> | undefined;
  /** @param texts texts of all secrets by reference, when the vault does not have them. */
  bind(
    workspaceId: string,
    definition: SourceDefinition,
    texts?: ReadonlyMap<string, string>,
  ): Promise<Readonly<Record<string, BoundProp>>>;
}

/**
 * Sends replies and outcomes to the process that awaits them. `address` is the invocation's `respond` header. A reply
 * that no process awaits any more is dropped. A failure to send is logged, never thrown.
 */
export interface Replies {
  /** Sends the reply of `respond({immediate: true})` while the invocation runs. */
  immediate(address: string, invocationId: string, reply: HttpReply): void;
  /** Sends the outcome once it is durable. A process that awaits `reply` needs only what `replyOf` reads. */
  ended(address: string, invocationId: string, outcome: RunOutcome, awaited: 'reply' | 'outcome'): void;
}

/**
 * The processes that await outcomes of hooks. A deadline is given in uptime of the process that set it, because the
 * clocks of machines differ.
 */
export interface Callers {
  /** Returns the uptime in ms of the process that awaits answers at this address; undefined when it is unknown. */
  uptimeOf(address: string): number | undefined;
  /** Reads which processes are alive now. */
  look(): Promise<void>;
}

export interface RunnerMetrics {
  /** Counts a finished run and its duration in milliseconds. */
  run(status: 'ok' | 'threw' | 'killed', workspaceId: string, ms: number): void;
  emits(count: number, workspaceId: string): void;
  duplicates(count: number): void;
  platformFailure(): void;
}

export interface RunnerLogger {
  isLevelEnabled(level: 'debug'): boolean;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface RunnerSettings {
  /** Most concurrent runs of a source without `$.service.db`. A source with it runs one at a time. */
  readonly concurrency: number;
  readonly httpTimeoutMs: number;
  readonly timerTimeoutMs: number;
  readonly hookTimeoutMs: number;
  /** Limit on runs of one source that are in flight in its process. */
  readonly window: number;
}

export interface RunnerDependencies {
  /**
   * True while the source must start no more runs, because there is no room for its emits or too many of them wait to
   * be routed. Its invocations wait.
   */
  readonly isPaused?: (sourceId: string) => boolean;
  readonly log: StreamLog;
  /** Counts the invocations that this process has in flight. */
  readonly handedOver: HandedOver;
  readonly topics: TopicPolicy;
  readonly journal: RunJournal;
  /** Absent where the router is in another process, or its lanes are written apart. */
  readonly routing?: CommitRouting | undefined;
  /** Store of the delayed events. */
  readonly delayed: Pick<DelayedEvents, 'usage'>;
  readonly blobs: Pick<BlobStore, 'fileOf'>;
  /** Installs the packages that are not part of a bundle, by their lock. */
  readonly packages: InstallPackages;
  readonly sources: RunnableSources;
  readonly follower: LogFollower;
  readonly sandboxes: Sandboxes;
  readonly binder: PropBinder;
  readonly replies: Replies;
  /** Absent where one process has every role. */
  readonly callers?: Callers | undefined;
  readonly settings: RunnerSettings;
  readonly hostDeaths: HostDeaths;
  /** Called when a run is ended because it killed its host each time. Must not throw. */
  readonly onGivenUp?: (sourceId: string, workspaceId: string, message: string) => void;
  readonly clock: Clock;
  readonly metrics: RunnerMetrics;
  readonly logger: RunnerLogger;
}

export type SourceRunnerDependencies = Omit<RunnerDependencies, 'log' | 'handedOver'>;
