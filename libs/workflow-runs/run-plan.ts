import { derivedId } from '#libs/kernel/ids.js';
import { LIMIT_ERRORS } from './run-limits.js';

/** What a run is pinned to at its first start. `version` is null for a draft. */
export interface PinnedVersion {
  readonly deploymentId: string | null;
  readonly version: number | null;
}

export interface RetryPolicy {
  /** 0 to 20. */
  readonly maxRetries: number;
  /** 1 to 86,400. */
  readonly delaySeconds: number;
  readonly backoff: 'exponential' | 'fixed';
  /** Codes that are otherwise not retried: `Timeout`, `OutOfMemory`. */
  readonly alsoOn: readonly string[];
}

/** What the decider needs to know of a step's definition. */
export interface PlannedStep {
  readonly namespace: string;
  /** `c_…`, the same over versions. */
  readonly id: string;
  readonly disabled: boolean;
  readonly hasIf: boolean;
  readonly retry: RetryPolicy | null;
  /** Of one execution. Null: only the stretch bounds it. */
  readonly timeoutSeconds: number | null;
  /** `stop`, `continue`, or the namespace of a later step. */
  readonly onError: string;
  /** Of a step with `for_each`. Absent: it runs once. */
  readonly loop?: { readonly concurrency: number };
}

/** What the decider needs to know of the version that a run is pinned to, at most 100 steps. */
export interface RunPlan {
  readonly version: PinnedVersion;
  /** Of a stretch, with the default of the run's trigger applied. */
  readonly timeoutSeconds: number;
  readonly autoRetry: { readonly notifyFirstError: boolean; readonly alsoOn: readonly string[] } | null;
  readonly steps: readonly PlannedStep[];
  /** It was a draft, which was discarded. The run fails. */
  readonly isGone?: true;
}

/** `c_…` of a step. */
export const stepIdOf = (workflowId: string, namespace: string): string => derivedId('c', workflowId, namespace);

/** What records of a run need to know of its plan. */
export interface NamedSteps {
  readonly steps: readonly Pick<PlannedStep, 'namespace' | 'id'>[];
}

const AUTO_RETRY = { maxRetries: 8, delaySeconds: 141, backoff: 'exponential' } as const;

export const retryPolicyOf = ({ retry }: PlannedStep, { autoRetry }: RunPlan): RetryPolicy | null =>
  retry ?? (autoRetry ? { ...AUTO_RETRY, alsoOn: autoRetry.alsoOn } : null);

/** Whether listeners of `$errors` hear of the first failure of a step that is tried again. */
export const tellsFirst = ({ autoRetry }: RunPlan, { onError }: PlannedStep): boolean =>
  onError === 'stop' && autoRetry?.notifyFirstError === true;

/** Failures that another attempt would only repeat, or that ended a server. */
const NEVER_RETRIED = new Set<string>([
  'ExpressionError',
  'ConfigurationError',
  'HostEnded',
  LIMIT_ERRORS.payload,
  LIMIT_ERRORS.nesting,
  LIMIT_ERRORS.waiting,
  LIMIT_ERRORS.items,
]);
const RETRIED_ON_REQUEST = new Set(['Timeout', 'OutOfMemory']);

export const isRetried = (policy: RetryPolicy, code: string, attempt: number): boolean =>
  attempt <= policy.maxRetries &&
  !NEVER_RETRIED.has(code) &&
  (!RETRIED_ON_REQUEST.has(code) || policy.alsoOn.includes(code));

/** Failures after which no step of the run may start, whatever `on_error` says. */
const FATAL = new Set<string>(['HostEnded', LIMIT_ERRORS.waiting]);

/** Index of the step that follows a failure for good. Undefined when the run ends. */
export const stepAfterFailure = ({ steps }: RunPlan, index: number, code: string): number | undefined => {
  const onError = steps[index]?.onError ?? 'stop';
  if (onError === 'stop' || FATAL.has(code)) return undefined;
  if (onError === 'continue') return index + 1;
  const handler = steps.findIndex(({ namespace }, at) => at > index && namespace === onError);
  return handler === -1 ? undefined : handler;
};
