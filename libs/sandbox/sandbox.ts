/** Port through which user code runs, never in a server process (docs/adr/0004). */
import { type ComponentCall } from '#libs/component-model/component-call.js';
import { type WaitingEvents } from '#libs/component-model/delayed-limits.js';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type ProcessCall } from '#libs/component-model/hooks.js';
import { type BodyRange } from '#libs/component-model/http-event.js';
import { type ConfiguredRequest } from '#libs/component-model/http-request.js';
import {
  type EmitCall,
  type HttpReply,
  type LogLine,
  type ToldEmit,
  type UserError,
} from '#libs/component-model/run-output.js';
import { type AskTrigger, type StepOutput } from '#libs/component-model/step-run.js';

/** Binding of a prop on `this`. Values are plain JSON, with secrets in clear, and travel over the socket only. */
export type BoundProp =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'http'; readonly endpoint: string }
  | { readonly kind: 'timer'; readonly intervalSeconds: number | null; readonly cron: string | null }
  | { readonly kind: 'db' }
  /** Its `execute` sends the configured request. */
  | { readonly kind: 'request'; readonly value: ConfiguredRequest }
  /** The folder that the process may write to. */
  | { readonly kind: 'dir' }
  /** Data store of the workspace, reached through the host. */
  | { readonly kind: 'store'; readonly id: string }
  | { readonly kind: 'app'; readonly auth: Readonly<Record<string, unknown>> };

export interface SandboxPackages {
  /** Host folder with `node_modules`. */
  readonly folder: string;
  readonly hasMachineCode: boolean;
  /** Called when the process no longer needs the folder. Idempotent. */
  release(): Promise<void>;
}

export interface SandboxSpec {
  /** Each source has its own process, which is never shared between workspaces. */
  readonly sourceId: string;
  readonly workspaceId: string;
  /** Host path of the one-file CommonJS bundle. Null for a process whose calls bring their bundles. */
  readonly bundleFile: string | null;
  /** Variables of the environment. Default: the name of the process as PD_COMPONENT. */
  readonly env?: Readonly<Record<string, string>>;
  /** Packages that the bundle requires while it runs. Absent for none. */
  readonly packages?: SandboxPackages;
  readonly props: Readonly<Record<string, BoundProp>>;
  /** Props that additionalProps added or changed. */
  readonly dynamicProps?: readonly ConfigurableProp[];
  /** True when a later call may have a prop of kind `request`. Props of this kind above need no flag. */
  readonly sendsRequests?: boolean;
  /** Durable content of `$.service.db`, as JSON texts by key. */
  readonly db: Readonly<Record<string, string>>;
  /** Heap of the process. Default: that of the server. */
  readonly memoryMb?: number;
  /** Maximum number of concurrent runs in the process. 1 keeps invocations in order. */
  readonly concurrency: number;
  /** Receives a line for `$logs` on late work, at most one per run and kind. */
  readonly onLate?: (line: LogLine) => void;
}

/** A one-file bundle. A process that has loaded it does not ask for its file. */
export interface Bundle {
  readonly hash: string;
  /** Host path. */
  readonly file: () => Promise<string>;
}

/** What is told of a step while it runs. */
export interface CallListener {
  /** Called at once for `$.respond({immediate: true})`. */
  readonly onReply?: (reply: HttpReply) => void;
  /** Answers `$.flow.trigger`. Absent: there is no workflow to start. */
  readonly onTrigger?: AskTrigger;
  /** Called at once with each log line, whose secrets are not masked. */
  readonly onLine?: (line: LogLine) => void;
  /** Aborted when nobody needs the outcome any more. Code that is busy 5 s later ends with its process. */
  readonly signal?: AbortSignal;
}

/** One call with its props, which may differ between calls of one process. */
export interface BoundCall {
  readonly call: ComponentCall;
  /** In a process that has none. */
  readonly bundle?: Bundle;
  readonly props: Readonly<Record<string, BoundProp>>;
  /** Props that additionalProps added or changed. */
  readonly dynamicProps?: readonly ConfigurableProp[];
}

/** Share of an outcome in the memory budget of all runs (docs/adr/0006). */
export interface HeldMemory {
  readonly bytes: number;
  /** Releases the bytes once the outcome is committed, or once it is certain not to be. Idempotent. */
  release(): void;
}

/** Outcome of one execution. Emits, logs and db changes made before a failure are kept with every status. */
export interface RunOutcome {
  /** `killed` means that the process ended during the run (timeout, memory, exit, protocol breach). */
  readonly status: 'ok' | 'threw' | 'killed';
  readonly error?: UserError;
  /** The process ended because of another run, or by a stop. */
  readonly interrupted?: true;
  readonly emits: readonly EmitCall[];
  /** The first emits, for the caller of a manual run. Set once the outcome is durable. */
  readonly told?: readonly ToldEmit[];
  /** Set when an emit has a `deliverAt`. */
  readonly delays?: true;
  readonly logs: readonly LogLine[];
  /** Changed keys only, with their JSON text, or null for a deleted key. */
  readonly dbChanges: Readonly<Record<string, string | null>>;
  /** JSON text of a call's answer. Absent for a run or hook, and for a call that failed. */
  readonly value?: string;
  /** Of a call of kind `step`. */
  readonly step?: StepOutput;
  /** Reply of the first `respond`, if any. */
  readonly response?: HttpReply;
  readonly startedAt: number;
  readonly endedAt: number;
  /** Absent for an outcome that did not come from a process. */
  readonly held?: HeldMemory;
}

export interface RunRequest {
  readonly invocationId: string;
  /** JSON text of the event, passed to the process unchanged. */
  readonly event: string;
  /** Set when the text contains the body of a request once. */
  readonly body?: BodyRange | undefined;
  readonly timeoutMs: number;
  /** Called at once for `respond({immediate: true})`. */
  readonly onImmediateResponse?: (reply: HttpReply) => void;
}

/** A warm process bound to one source. */
export interface Sandbox {
  /**
   * Queues one invocation. Invocations start in call order, up to `concurrency` at once. Requests made in one tick are
   * sent in one frame (up to 64). Resolves with the outcome, even when the user's code failed. Rejects with SandboxGone
   * when the process ended before the invocation started, so the caller may run it again elsewhere.
   */
  run(request: RunRequest): Promise<RunOutcome>;
  /** Runs a hook. Hooks run concurrently with invocations, but one hook at a time. */
  hook(hook: ProcessCall, timeoutMs: number): Promise<RunOutcome>;
  /**
   * Makes one call, concurrently with invocations. Rejects with SandboxGone when it did not start. `listener` hears
   * a step while it runs.
   */
  ask(call: BoundCall, timeoutMs: number, listener?: CallListener): Promise<RunOutcome>;
  /**
   * True once the process may serve no further call, because the last one left changes, exceeded a limit, or had late
   * work. Runs and hooks continue.
   */
  isSpent(): boolean;
  /**
   * Sends the count of events waiting in `$in`, for the `$emit` of later runs and hooks. Does nothing once the process
   * has ended.
   */
  tellWaiting(events: WaitingEvents): void;
  /**
   * Rejects invocations that have not started, and all later ones, with SandboxGone. Started invocations continue, and
   * hooks still run. Idempotent.
   */
  drain(): void;
  /** True until the process has ended or was stopped. */
  alive(): boolean;
  /** CPU time used by the process in milliseconds, or undefined when it cannot be read. */
  cpuMs(): number | undefined;
  /** Ends the process, with SIGKILL after a grace period of 500 ms. Unfinished runs resolve as `killed`. Idempotent. */
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
  /** Chosen level: `jail (bwrap)`, `jail (unshare)` or `process`. */
  readonly level: string;
}
