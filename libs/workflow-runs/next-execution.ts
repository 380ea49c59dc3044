import { PARTS, type RunState, originOf, outcomeOf } from './run-state.js';
import { type NamedSteps, type RunPlan } from './run-plan.js';

/** What must run now, and what its code is given beside the trigger and the steps before it. */
export interface Execution {
  /** A crash repeats an execution under the same number. */
  readonly number: number;
  readonly namespace: string;
  readonly stepId: string;
  /** Epoch milliseconds. */
  readonly deadline: number;
  /** Retries and reruns do not evaluate the `if` of their step again. */
  readonly evaluatesIf: boolean;
  readonly idempotencyKey: string;
  readonly run: {
    readonly runs: number;
    readonly attempt: number;
    /** JSON text. */
    readonly context: string | null;
    /** JSON text. */
    readonly callbackRequest: string | null;
  };
  /** The last wait of the run that ended. */
  readonly resume: { readonly namespace: string; readonly kind: string } | null;
}

/** Null for a run that executes nothing now. */
export const nextExecution = (plan: RunPlan, state: RunState): Execution | null => {
  const { status, position, stretch, executions, resumed } = state.head;
  const step = plan.steps.find(({ namespace }) => namespace === position?.namespace);
  if (status !== 'running' || !position || !stretch || !step) return null;
  const { namespace, runs, attempt, startedAt } = position;
  const { timeoutSeconds } = step;
  return {
    number: executions,
    namespace,
    stepId: step.id,
    deadline:
      timeoutSeconds === null ? stretch.deadline : Math.min(stretch.deadline, startedAt + timeoutSeconds * 1_000),
    evaluatesIf: step.hasIf && runs === 1 && attempt === 1,
    idempotencyKey: `${originOf(state).keyRun}/${namespace}${runs === 1 ? '' : `/run-${runs}`}`,
    run: {
      runs,
      attempt,
      context: state.parts[PARTS.context] ?? null,
      callbackRequest: state.parts[PARTS.callback] ?? null,
    },
    resume: resumed && { namespace: resumed.namespace, kind: resumed.kind },
  };
};

/** Addresses that end the wait for the next attempt. */
export interface AttemptUrls {
  readonly cancel_url: string;
  readonly rerun_url: string;
}

/** The addresses are secrets, so whatever shows a run shows this instead. */
const HIDDEN: AttemptUrls = { cancel_url: '********', rerun_url: '********' };

/**
 * Members of `steps` by namespace, as JSON texts: the exports of a step and what became of it. Skipped steps and those
 * that have not run are absent.
 */
export const stepTexts = (
  plan: NamedSteps,
  state: RunState,
  attemptUrls: AttemptUrls = HIDDEN,
): ReadonlyMap<string, string> => {
  const texts = new Map<string, string>();
  for (const { namespace } of plan.steps) {
    const outcome = outcomeOf(state, namespace);
    if (!outcome || outcome.state === 'skipped') continue;
    const { error, retryAt, endedAt } = outcome;
    const members = [(state.parts[PARTS.exports(namespace)] ?? '{}').slice(1, -1)];
    const resumeData = state.parts[PARTS.resumeData(namespace)];
    if (resumeData !== undefined) members.push(`"$resume_data":${resumeData}`);
    if (error) {
      const { name, message, code, stack } = error;
      const shown = { name, message, code, stack, ts: new Date(endedAt).toISOString() };
      const attempt = retryAt !== null && {
        error: shown,
        ...attemptUrls,
        resume_ts: new Date(retryAt).toISOString(),
      };
      members.push(attempt ? `"$attempt":${JSON.stringify(attempt)}` : `"$error":${JSON.stringify(shown)}`);
    }
    texts.set(namespace, `{${members.filter((member) => member !== '').join()}}`);
  }
  return texts;
};
