/** One execution of the code of a workflow's step (docs/reference/workflows.md#step-code). */
import { type HttpReply } from './run-output.js';

/** Longest wait of a step: 366 days. */
export const MAX_WAIT_MS = 366 * 86_400_000;
/** Most repeats that a step may ask for. */
export const MAX_RERUNS = 1_000;
/** Names that one step may export. */
export const MAX_EXPORTS = 1_000;
/** Messages that one step may send. */
export const MAX_SENDS = 100;

/** UTF-8 bytes of the prefix of an object. A key has 1,024, and `/yyyy/mm/dd/<uuid>.json` follows the prefix. */
export const MAX_PREFIX_BYTES = 971;

/** Workflows that one step may start. */
export const MAX_TRIGGERS = 100;

/** Value that `run` returned, among the exports. */
export const RETURN_VALUE = '$return_value';
/** Line about the step for lists, among the exports. */
export const SUMMARY = '$summary';
/** Names in `steps.<namespace>` that the platform gives. A step may export `$summary` alone of them. */
export const PLATFORM_EXPORTS: ReadonlySet<string> = new Set([
  RETURN_VALUE,
  SUMMARY,
  '$resume_data',
  '$attempt',
  '$error',
  '$items',
]);

/** Code of the error of a value that nests too deep. */
export const NESTING_EXCEEDED = 'JSONNestedPropertyLimitExceeded';

export interface StepUrls {
  readonly resume_url: string;
  readonly cancel_url: string;
  readonly confirm_url: string;
}

/** What one execution gets beside its props. */
export interface StepFacts {
  /** `$.context`, as JSON. */
  readonly context: Readonly<Record<string, unknown>>;
  /** JSON text of `steps`, with `trigger {event, context}`. */
  readonly steps: string;
  /** Addresses that end a wait of this execution. Null where there are none, as in a test. */
  readonly urls: StepUrls | null;
  /** Time that `$.flow.refreshTimeout()` gives, counted from the call. */
  readonly stretchMs: number;
  /** Longest time from the start of the call, however often more is asked for. */
  readonly mostMs: number;
  /** Whether a caller waits for what `$.respond` gives. */
  readonly hasCaller: boolean;
  /** A test does not wait. */
  readonly test: boolean;
  /** Item of a `for_each`, as a JSON text. Absent for a step that runs once. */
  readonly item?: { readonly text: string; readonly index: number };
  /** Content of `$.service.db`, as JSON texts by key. Absent for a step that does not declare it. */
  readonly db?: Readonly<Record<string, string>>;
}

/** How a step asked the run to go on. Of several calls the last counts. */
export type StepFlow =
  | { readonly kind: 'exit'; readonly reason: string | null }
  | { readonly kind: 'delay' | 'suspend'; readonly ms: number }
  | {
      readonly kind: 'rerun';
      readonly ms: number;
      /** JSON text. */
      readonly context: string | null;
      readonly maxRetries: number;
    };

/** Message of `$.send`, to be sent once the outcome of the step is durable. */
export type StepSend =
  | {
      readonly kind: 'http';
      readonly method: string;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | null;
      /** Whether it is tried again, as deliveries of webhooks are. */
      readonly retry: boolean;
    }
  | { readonly kind: 'email'; readonly subject: string; readonly text: string | null; readonly html: string | null }
  /** `event` is a JSON text. */
  | { readonly kind: 'emit'; readonly event: string }
  /** `payload` is a JSON text. */
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string; readonly payload: string }
  /** `payload` is a JSON text. */
  | { readonly kind: 'sse'; readonly channel: string; readonly payload: string };

/** A workflow that a step starts once its outcome is durable, unless it failed. */
export interface StepTrigger {
  readonly workflowId: string;
  /** Counts the calls of `$.flow.trigger` in the execution. The id of the run derives from it. */
  readonly index: number;
  /** JSON text. */
  readonly event: string;
}

/** Answers the call `index` of `$.flow.trigger` in an execution. `workflow` is an id, or `ext:` and an external id. */
export type AskTrigger = (
  workflow: string,
  index: number,
) =>
  | { readonly workflowId: string; readonly runId: string }
  | { readonly error: { readonly code: string; readonly message: string } };

/** What an execution left, also when it failed. All of it comes from its author, in a checked form. */
export interface StepOutput {
  /** JSON texts by name, `$return_value` and `$summary` included. */
  readonly exports: Readonly<Record<string, string>>;
  /** Null when it failed. */
  readonly flow: StepFlow | null;
  /** In the order of the calls. */
  readonly sends: readonly StepSend[];
  /** Absent for none. */
  readonly triggers?: readonly StepTrigger[];
  /** Time of the last `$.flow.refreshTimeout()`, in epoch milliseconds. */
  readonly refreshedAt?: number;
}

export interface StepAnswer extends StepOutput {
  /** What the first `$.respond` gave. */
  readonly reply: HttpReply | null;
  /** Changed keys of `$.service.db`, with their JSON text, or null for a deleted key. Absent for none. */
  readonly dbChanges?: Readonly<Record<string, string | null>>;
}
