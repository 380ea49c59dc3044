/** The port through which user code runs; never in a server process (docs/adr on the sandbox). */
import { type HookName } from '../component-model/hooks.js';
import { type EmitCall, type HttpReply, type LogLine, type UserError } from '../component-model/run-output.js';

/** How a prop is bound on `this`. Values are plain JSON, with secrets in clear: they travel over the socket only. */
export type BoundProp =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'http'; readonly endpoint: string }
  | { readonly kind: 'timer'; readonly intervalSeconds: number | null; readonly cron: string | null }
  | { readonly kind: 'db' }
  | { readonly kind: 'app'; readonly auth: Readonly<Record<string, unknown>> };

export interface SandboxSpec {
  /** One process per source; never shared between workspaces. */
  readonly sourceId: string;
  readonly workspaceId: string;
  /** Host path of the one-file CommonJS bundle. */
  readonly bundleFile: string;
  readonly props: Readonly<Record<string, BoundProp>>;
  /** Durable `$.service.db` content: key to JSON text. */
  readonly db: Readonly<Record<string, string>>;
  /** Runs at once within the process: 1 keeps invocations in order. */
  readonly concurrency: number;
}

/** What the outcome of a run takes of the memory that all runs share (docs/adr/0016). */
export interface HeldMemory {
  readonly bytes: number;
  /** Gives it back: the outcome is committed, or will not be. Idempotent. */
  release(): void;
}

/** The end of one execution. What was said before a failure is kept: emits, logs and db changes come with every status. */
export interface RunOutcome {
  /** `killed`: the process ended during it (timeout, memory, exit, protocol breach). It took nothing else with it. */
  readonly status: 'ok' | 'threw' | 'killed';
  readonly error?: UserError;
  readonly emits: readonly EmitCall[];
  readonly logs: readonly LogLine[];
  /** Changed keys only: JSON text, or null for a deleted key. */
  readonly dbChanges: Readonly<Record<string, string | null>>;
  /** The first `respond`, when there was one. */
  readonly response?: HttpReply;
  readonly startedAt: number;
  readonly endedAt: number;
  /** Absent for an outcome that no process made. */
  readonly held?: HeldMemory;
}

export interface RunRequest {
  readonly invocationId: string;
  /** JSON text of the event, handed to the process as it is. */
  readonly event: string;
  readonly timeoutMs: number;
  /** Called at once for `respond({immediate: true})`. */
  readonly onImmediateResponse?: (reply: HttpReply) => void;
}

/** A warm process bound to one source. */
export interface Sandbox {
  /**
   * Queues one invocation; those of one sandbox start in call order, up to `concurrency` at once. Requests made in one
   * tick travel in one frame (up to 64). Resolves with the outcome, also when the user's code failed. Rejects with
   * SandboxGone when the process ended before this invocation was started: it may be run again elsewhere.
   */
  run(request: RunRequest): Promise<RunOutcome>;
  /** Hooks run beside invocations, one at a time. */
  hook(hook: HookName, timeoutMs: number): Promise<RunOutcome>;
  /**
   * Gives back what has not started: it rejects with SandboxGone, and so does what is asked from now on. What has
   * started goes on, and hooks are run. Idempotent.
   */
  drain(): void;
  /** True until the process ended or was stopped. */
  alive(): boolean;
  /** Processor time that it has used; undefined when that cannot be known. */
  cpuMs(): number | undefined;
  /** Ends the process (SIGKILL after a grace of 500 ms); what runs resolves as `killed`. Idempotent. */
  stop(): Promise<void>;
}

export class SandboxGone extends Error {
  constructor(sourceId: string, reason: string) {
    super(`sandbox of ${sourceId} is gone: ${reason}`);
    this.name = 'SandboxGone';
  }
}

/** The author's fault: the bundle cannot be loaded. Any other rejection of `start` is the platform's. */
export class BundleNotLoaded extends Error {
  /** @param userError what the author reads; its code is Timeout when loading hung. */
  constructor(
    sourceId: string,
    readonly userError: UserError,
  ) {
    super(`the component of ${sourceId} could not be loaded: ${userError.message}`);
    this.name = 'BundleNotLoaded';
  }
}

export interface SandboxFactory {
  /** Starts a process and loads the bundle. Rejects with BundleNotLoaded when it cannot be loaded. */
  start(spec: SandboxSpec): Promise<Sandbox>;
  /** What was chosen: `jail (bwrap)`, `jail (unshare)`, `process`; with ` + vm2` when components run in a realm besides. */
  readonly level: string;
}
