/** What the runner needs of the rest, declared by it. */
import { type BlobStore } from '../kernel/blob-store.js';
import { type Clock } from '../kernel/clock.js';
import { type Position } from '../kernel/events.js';
import { type SourceDefinition } from '../sources/published.js';
import { type StreamLog } from '../stream-log/stream-log.js';
import { type TopicPolicy } from '../stream-log/topics.js';
import { type HostDeaths } from './host-deaths.js';
import { type RunJournal } from './run-journal.js';
import { type BoundProp, type RunOutcome, type Sandbox, type SandboxSpec } from '../sandbox/sandbox.js';
import { type HttpReply } from '../component-model/run-output.js';

export interface RunnableSource {
  readonly workspaceId: string;
  readonly definition: SourceDefinition;
}

/** Sources as the event log has them. Undefined: unknown, deleted, or its deployment failed. */
export interface RunnableSources {
  find(sourceId: string): RunnableSource | undefined;
}

/** What keeps `RunnableSources` up with the event log, which other processes write too. */
export interface LogFollower {
  /** True once it holds everything up to `position`, false when that took longer than `timeoutMs`. */
  waitFor(position: Position, timeoutMs: number): Promise<boolean>;
  /** Resolves when it holds what is in the event log now; rejects when that takes longer than `timeoutMs`. */
  upToDate(timeoutMs: number): Promise<void>;
}

/** Warm processes, one per source. */
export interface Sandboxes {
  /**
   * The source's live process, started with `spec` when there is none. Rejects when it cannot be started; with
   * BundleNotLoaded when the author's bundle is at fault.
   */
  acquire(sourceId: string, workspaceId: string, spec: () => Promise<SandboxSpec>): Promise<Sandbox>;
  /** Ends the source's process. Idempotent. */
  drop(sourceId: string): Promise<void>;
}

/** Turns a definition into what is bound on `this`: endpoints with their URLs, secrets from the vault. */
export interface PropBinder {
  bind(workspaceId: string, definition: SourceDefinition): Promise<Readonly<Record<string, BoundProp>>>;
}

/**
 * Who waits for the end of an invocation. `address` is what its `respond` header holds: where the answer is awaited, in
 * this process or another. What nobody waits for any more is dropped; what cannot be sent is logged, never thrown.
 */
export interface Replies {
  /** `respond({immediate: true})`, while it runs. */
  immediate(address: string, invocationId: string, reply: HttpReply): void;
  /** It ended, and what it left is durable. Who waits for `reply` reads no more of the outcome than `replyOf` does. */
  ended(address: string, invocationId: string, outcome: RunOutcome, awaited: 'reply' | 'outcome'): void;
}

export interface RunnerMetrics {
  /** A run ended; `ms` is how long it took. */
  run(status: 'ok' | 'threw' | 'killed', workspaceId: string, ms: number): void;
  emits(count: number): void;
  duplicates(count: number): void;
  platformFailure(): void;
}

export interface RunnerLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface RunnerSettings {
  /** Runs at once of a source without `$.service.db`; a source with it runs one at a time (docs/adr). */
  readonly concurrency: number;
  readonly httpTimeoutMs: number;
  readonly timerTimeoutMs: number;
  readonly hookTimeoutMs: number;
  /** Most runs of one source handed to its process and not yet back. */
  readonly window: number;
}

export interface RunnerDependencies {
  /**
   * True while the source must start nothing more: there is no room for what it would emit, or too much of it waits to
   * be routed. Its invocations wait.
   */
  readonly isPaused?: (sourceId: string) => boolean;
  readonly log: StreamLog;
  readonly topics: TopicPolicy;
  readonly journal: RunJournal;
  readonly blobs: Pick<BlobStore, 'fileOf'>;
  readonly sources: RunnableSources;
  readonly follower: LogFollower;
  readonly sandboxes: Sandboxes;
  readonly binder: PropBinder;
  readonly replies: Replies;
  readonly settings: RunnerSettings;
  readonly hostDeaths: HostDeaths;
  readonly clock: Clock;
  readonly metrics: RunnerMetrics;
  readonly logger: RunnerLogger;
}

/** What one source's runner uses of them. */
export type SourceRunnerDependencies = Omit<RunnerDependencies, 'log'>;
