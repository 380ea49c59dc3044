import { type LogLine, type UserError } from '#libs/component-model/run-output.js';
import { type Actor } from '#libs/kernel/events.js';
import { type PinnedVersion } from './run-plan.js';

/** What is known of a run before it starts, and never changes. Its event is kept apart. */
export interface RunOrigin {
  readonly id: string;
  readonly workflowId: string;
  readonly ownerId: string;
  readonly trigger: { readonly type: string; readonly id: string | null; readonly name: string | null };
  readonly sourceType: 'HTTP' | 'TIMER' | 'COMPONENT' | 'WORKFLOW' | 'MANUAL' | 'TOOL';
  readonly test: boolean;
  readonly verified: boolean;
  /** The caller asked that no list keeps the run (`x-pd-nostore`). */
  readonly nostore?: true;
  readonly replayOf: string | null;
  readonly replayFrom: string | null;
  readonly replayedBy: Actor | null;
  /** Version or draft that it starts with. Absent: the version that is in force then. */
  readonly startsWith?: string;
  /** The run whose id idempotency keys begin with: this one, or the failed run that it continues. */
  readonly keyRun: string;
  readonly traceId: string;
  readonly hops: number;
  /** Epoch milliseconds, as all times here. */
  readonly arrivedAt: number;
  /** Whether a caller waits for what `$.respond` gives. */
  readonly hasCaller: boolean;
  /** Where the caller of a trigger waits: address of its process, and the id of the invocation. */
  readonly caller?: { readonly address: string; readonly invocation: string };
}

export type SkipReason = 'disabled' | 'if' | 'handler' | 'on_error' | 'exit';
export type WaitKind = 'delay' | 'suspend' | 'rerun' | 'retry';
export type CancelReason = 'api' | 'cancel_url' | 'suspend_timeout' | 'deactivated' | 'superseded';
export type SendKind = 'http' | 'email' | 's3' | 'emit' | 'sse';

export interface Reply {
  readonly status: number;
  /** JSON text of the whole reply. */
  readonly text: string;
  /** When it was sent at once. Null: it is sent when the run waits or ends. */
  readonly sentAt: number | null;
}

/** What one execution of a step leaves, with all texts as they are stored. */
export interface ExecutionRecord {
  /** JSON text of an object with the exports by name. */
  readonly exports: string;
  /** JSON text of the evaluated props with their secrets masked. Null when they could not be evaluated. */
  readonly props: string | null;
  readonly logs: readonly LogLine[];
  readonly sends: readonly {
    readonly id: string;
    readonly kind: SendKind;
    /** Why it does not go out at all. */
    readonly error?: string;
  }[];
  readonly reply: Reply | null;
  /** Deadline of the stretch after the execution, which may have asked for more time. */
  readonly deadline: number;
}

/** Outcome of a step that a replay adopts from the run that it repeats. The texts are those of the parts of that run. */
export interface ReusedStep {
  readonly namespace: string;
  readonly step: string;
  readonly exports: string | null;
  readonly resumeData: string | null;
}

/** Items of a loop that a replay adopts from the run that failed in it. */
export interface KeptItems {
  readonly namespace: string;
  readonly items: readonly { readonly index: number; readonly outcome: string }[];
}

/** Facts of one run, in the past tense and with all that follows from them. */
export type RunFact =
  | { readonly type: 'RunArrived'; readonly data: RunArrived }
  | {
      readonly type: 'RunStarted';
      readonly data: { readonly at: number; readonly deadline: number; readonly version: PinnedVersion };
    }
  | { readonly type: 'StretchBegun'; readonly data: { readonly at: number; readonly deadline: number } }
  | {
      readonly type: 'StepStarted';
      readonly data: {
        readonly at: number;
        readonly namespace: string;
        readonly runs: number;
        readonly attempt: number;
      };
    }
  | {
      readonly type: 'StepInterrupted';
      readonly data: {
        readonly at: number;
        readonly deadline: number;
        readonly cause: 'owner' | 'process';
        /** Of one item of a loop. Absent: everything that executed was lost. */
        readonly execution?: number;
      };
    }
  | {
      readonly type: 'StepSkipped';
      readonly data: { readonly at: number; readonly namespace: string; readonly reason: SkipReason };
    }
  /** `list` is a JSON text. */
  | {
      readonly type: 'ItemsListed';
      readonly data: { readonly at: number; readonly list: string; readonly count: number };
    }
  | {
      readonly type: 'ItemStarted';
      readonly data: {
        readonly at: number;
        readonly deadline: number;
        readonly index: number;
        readonly attempt: number;
      };
    }
  | { readonly type: 'ItemSucceeded'; readonly data: ItemSucceeded }
  | { readonly type: 'ItemFailed'; readonly data: ItemFailed }
  | { readonly type: 'StepSucceeded'; readonly data: ExecutionRecord & { readonly at: number } }
  | { readonly type: 'StepFailed'; readonly data: StepFailed }
  | {
      readonly type: 'WaitBegun';
      readonly data: {
        readonly at: number;
        readonly kind: WaitKind;
        readonly resumeAt: number;
        readonly context: string | null;
      };
    }
  | { readonly type: 'ResumeKept'; readonly data: { readonly at: number; readonly resume: Resume } }
  | { readonly type: 'WaitEnded'; readonly data: { readonly at: number; readonly resume: Resume | null } }
  | { readonly type: 'RunSucceeded'; readonly data: { readonly at: number } }
  | { readonly type: 'RunExited'; readonly data: { readonly at: number; readonly reason: string | null } }
  | {
      readonly type: 'RunFailed';
      readonly data: { readonly at: number; readonly namespace: string | null; readonly error: UserError };
    }
  | {
      readonly type: 'RunCancelled';
      readonly data: {
        readonly at: number;
        readonly reason: CancelReason;
        readonly by: Actor | null;
        /** Id of the request, by which its repeat is known. */
        readonly request?: string;
      };
    };

export interface RunArrived {
  readonly origin: RunOrigin;
  /** Place in the order of arrival at the workflow. Null for a run outside of its queue, such as a test. */
  readonly place: number | null;
  /** JSON text. Null for one that is too large to be kept. */
  readonly event: string | null;
  readonly reused: readonly ReusedStep[];
  /** Absent for a run that begins with none. */
  readonly kept?: KeptItems;
}

export interface StepFailed extends ExecutionRecord {
  readonly at: number;
  readonly error: UserError;
  /** When it is tried again. Null for good. */
  readonly retryAt: number | null;
  /** Whether listeners of `$errors` hear of it although it is tried again. */
  readonly notifies: boolean;
}

/** What one execution of an item leaves. Its props are not kept. */
interface ItemRecord extends Omit<ExecutionRecord, 'props' | 'deadline'> {
  readonly at: number;
  /** Number of the execution. */
  readonly execution: number;
}

export interface ItemSucceeded extends ItemRecord {
  /** Of `$.flow.exit`. */
  readonly exit: { readonly reason: string | null } | null;
}

export interface ItemFailed extends ItemRecord {
  readonly error: UserError;
  /** When it is tried again. Null for good. */
  readonly retryAt: number | null;
  /** Whether no further item starts. */
  readonly stops: boolean;
  /** As of a step that failed. */
  readonly notifies: boolean;
}

/** What ended a wait before its time. */
export interface Resume {
  /** JSON text in the shape of an HTTP event. Null when there is nothing to keep. */
  readonly data: string | null;
  /** Null for a URL, which needs no key. */
  readonly by: Actor | null;
  /** Id of the request, by which its repeat is known. */
  readonly request?: string;
}
