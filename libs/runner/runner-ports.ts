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
  /** A text that changes with the credentials; undefined for an account that does not exist in this workspace. */
  versionOf(accountId: string, workspaceId: string): string | undefined;
  /**
   * Undefined while the token is valid. Else resolves once there is a new one, and rejects with account.not_refreshed.
   */
  freshen(accountId: string, workspaceId: string): Promise<void> | undefined;
  /** Empty for an account that does not exist. */
  authOf(accountId: string, workspaceId: string): Promise<Readonly<Record<string, unknown>>>;
}

export interface RunnableSource {
  readonly workspaceId: string;
  readonly definition: SourceDefinition;
}

/** Sources according to the event log. `find` returns undefined for an unknown, deleted or not deployed source. */
export interface RunnableSources {
  find(sourceId: string): RunnableSource | undefined;
}

/** Keeps `RunnableSources` up to date with the event log, which other processes also write. */
export interface LogFollower {
  /** Resolves to true once it holds everything up to `position`, to false after `timeoutMs`. */
  waitFor(position: Position, timeoutMs: number): Promise<boolean>;
  /** Resolves when it holds what is in the event log now. Rejects after `timeoutMs`. */
  upToDate(timeoutMs: number): Promise<void>;
}

/** Warm processes, one per source. */
export interface Sandboxes {
  /**
   * Returns the source's live process, started with `spec` when there is none. Rejects when it cannot start, with
   * BundleNotLoaded when the author's bundle is at fault.
   */
  acquire(sourceId: string, workspaceId: string, spec: () => Promise<SandboxSpec>): Promise<Sandbox>;
  /** Ends the source's process. Idempotent. */
  drop(sourceId: string): Promise<void>;
}

/** Turns a definition into the props bound on `this`: endpoints with their URLs, secrets from the vault. */
export interface PropBinder {
  /** A text that changes when what `bind` reads outside of the definition does, such as credentials of an account. */
  versionOf(workspaceId: string, definition: SourceDefinition): string;
  /** Makes expired tokens fresh before they are bound. Undefined when none has expired. */
  freshen(workspaceId: string, definition: SourceDefinition): Promise<void> | undefined;
  /** @param texts texts of all secrets by reference, where they are not in the vault. */
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
  /** Sends the outcome once it is durable. A process that awaits `reply` reads only what `replyOf` reads. */
  ended(address: string, invocationId: string, outcome: RunOutcome, awaited: 'reply' | 'outcome'): void;
}

/**
 * The processes that await outcomes of hooks. A deadline is told by the uptime of the process that set it, because clocks
 * of machines differ.
 */
export interface Callers {
  /** How long the process that awaits answers at this address has run, in ms; undefined when it has not been seen. */
  uptimeOf(address: string): number | undefined;
  /** Sees the processes that live now. */
  look(): Promise<void>;
}

export interface RunnerMetrics {
  /** Counts a finished run and its duration in milliseconds. */
  run(status: 'ok' | 'threw' | 'killed', workspaceId: string, ms: number): void;
  emits(count: number): void;
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
  /** Concurrent runs of a source without `$.service.db`. A source with it runs one at a time. */
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
  /** Counts the invocations in flight of this process. */
  readonly handedOver: HandedOver;
  readonly topics: TopicPolicy;
  readonly journal: RunJournal;
  /** Absent where the router is in another process, or its lanes are written apart. */
  readonly routing?: CommitRouting | undefined;
  /** Events of sources that wait. */
  readonly delayed: Pick<DelayedEvents, 'usage'>;
  readonly blobs: Pick<BlobStore, 'fileOf'>;
  /** Installs the packages that stay beside a bundle, by their lock. */
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
  /** Called when a run is given up because it killed its host each time. Must not throw. */
  readonly onGivenUp?: (sourceId: string, workspaceId: string, message: string) => void;
  readonly clock: Clock;
  readonly metrics: RunnerMetrics;
  readonly logger: RunnerLogger;
}

export type SourceRunnerDependencies = Omit<RunnerDependencies, 'log' | 'handedOver'>;
