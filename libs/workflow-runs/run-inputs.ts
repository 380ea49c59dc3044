import { type LogLine, type UserError } from '#libs/component-model/run-output.js';
import { type StepFlow } from '#libs/component-model/step-run.js';
import { type Actor } from '#libs/kernel/events.js';
import {
  type CancelReason,
  type KeptItems,
  type Reply,
  type ReusedStep,
  type RunOrigin,
  type SendKind,
} from './run-facts.js';

/** What one execution of a step's code returned to the server. */
export interface StepResult {
  /** By name, `$return_value` and `$summary` included. The protocol of the sandbox has checked that each text is JSON. */
  readonly exports: Readonly<Record<string, string>>;
  /** JSON text of the evaluated props, with their secrets masked. Null when they could not be evaluated. */
  readonly props: string | null;
  readonly logs: readonly LogLine[];
  readonly sends: readonly {
    readonly kind: SendKind;
    readonly bytes: number;
    /** Why it does not go out at all. */
    readonly error?: string;
  }[];
  readonly reply: Reply | null;
  /** Time of the last `$.flow.refreshTimeout()`. */
  readonly refreshedAt?: number;
}

/** The list of a `for_each`, which its code has not seen yet. */
export interface ListedOutcome {
  readonly kind: 'listed';
  /** JSON text. */
  readonly list: string;
  readonly count: number;
}

export type Outcome =
  | ListedOutcome
  /** Its `if` is falsy. */
  | { readonly kind: 'skipped' }
  | { readonly kind: 'succeeded'; readonly result: StepResult; readonly flow: StepFlow | null }
  | { readonly kind: 'failed'; readonly result: StepResult; readonly error: UserError };

/**
 * What a run decides on. Alarms, requests and outcomes name the execution that they belong to by its number, so that a
 * late one, or the second of two at once, changes nothing.
 */
export type RunInput =
  | {
      readonly type: 'arrive';
      readonly now: number;
      readonly origin: RunOrigin;
      readonly place: number | null;
      /** JSON text. */
      readonly event: string;
      readonly reused: readonly ReusedStep[];
      readonly kept?: KeptItems;
      /** The caller asked that nothing runs (`x-pd-notrigger`). */
      readonly notrigger: boolean;
    }
  /** The workflow's queue was full when the run arrived. */
  | { readonly type: 'refuse'; readonly now: number; readonly queueSize: number }
  /** The workflow admits the run, for the first time or after a wait. */
  | { readonly type: 'start'; readonly now: number }
  | {
      readonly type: 'outcome';
      readonly now: number;
      readonly execution: number;
      readonly outcome: Outcome;
      /** False when as many runs of the workflow wait as may. */
      readonly mayWait: boolean;
    }
  /**
   * The execution was lost with its `owner`, or because another run ended its `process`. What follows from a lost owner
   * needs no write of its own, because the next owner decides the same.
   */
  | {
      readonly type: 'interrupt';
      readonly now: number;
      readonly execution: number;
      readonly cause: 'owner' | 'process';
      readonly mayWait: boolean;
    }
  | { readonly type: 'alarm'; readonly now: number; readonly execution: number; readonly dueAt: number }
  | {
      readonly type: 'resume';
      readonly now: number;
      /** Of a URL's token. Null for the API, which ends any wait. */
      readonly execution: number | null;
      /** JSON text in the shape of an HTTP event. */
      readonly data: string;
      readonly by: Actor | null;
      /** Id of the request, the same when it is repeated. */
      readonly request?: string;
    }
  | {
      readonly type: 'cancel';
      readonly now: number;
      /** Of a URL's token, else null. */
      readonly execution: number | null;
      readonly reason: CancelReason;
      readonly by: Actor | null;
      /** As of a resume. */
      readonly request?: string;
    };

export type InputOf<T extends RunInput['type']> = Extract<RunInput, { readonly type: T }>;
