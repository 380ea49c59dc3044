import { isExecuting, itemMembers, itemOutcomes } from './loop-state.js';
import { STRETCH_MS } from './run-limits.js';
import { PARTS, type RunState, originOf, outcomeOf } from './run-state.js';
import { type StepOutcome } from './step-outcome.js';
import { type NamedSteps, type RunPlan } from './run-plan.js';

/** What must run now, and what its code is given beside the trigger and the steps before it. */
export interface Execution {
  /** A crash repeats an execution under the same number. */
  readonly number: number;
  readonly namespace: string;
  readonly stepId: string;
  /** Epoch milliseconds. */
  readonly deadline: number;
  /** Latest deadline that the execution can ask for. */
  readonly mostDeadline: number;
  /** Retries and reruns do not evaluate the `if` of their step again. */
  readonly evaluatesIf: boolean;
  readonly idempotencyKey: string;
  /** Index of the item of a `for_each`. Absent for a step that runs once, and while its list is not known. */
  readonly item?: number;
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

/** Numbers of what a run executes now: one, or the items of a loop that have started. */
export const executingNow = ({ head: { status, loop, executions } }: RunState): readonly number[] => {
  if (status !== 'running') return [];
  return loop ? loop.places.filter(isExecuting).map(({ execution }) => execution) : [executions];
};

/** Null for a run that executes nothing under this number now. */
export const nextExecution = (
  plan: RunPlan,
  state: RunState,
  number: number = state.head.executions,
): Execution | null => {
  const { position, stretch, resumed, loop } = state.head;
  const step = plan.steps.find(({ namespace }) => namespace === position?.namespace);
  if (!executingNow(state).includes(number) || !position || !stretch || !step) return null;
  const { namespace, runs, startedAt } = position;
  const { timeoutSeconds } = step;
  const place = loop?.places.find(({ execution }) => execution === number);
  const { attempt } = place ?? position;
  const deadline =
    place?.deadline ??
    (timeoutSeconds === null ? stretch.deadline : Math.min(stretch.deadline, startedAt + timeoutSeconds * 1_000));
  return {
    number,
    namespace,
    stepId: step.id,
    deadline,
    // A step's own limit cannot be extended, and a stretch only up to its own.
    mostDeadline: timeoutSeconds === null ? (place ?? stretch).startedAt + STRETCH_MS : deadline,
    evaluatesIf: step.hasIf && !place && runs === 1 && attempt === 1,
    idempotencyKey: `${originOf(state).keyRun}/${namespace}${place ? `/item-${place.index}` : ''}${runs === 1 ? '' : `/run-${runs}`}`,
    ...(place ? { item: place.index } : {}),
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

const exportMembers = (state: RunState, namespace: string, { items }: StepOutcome): string[] => [
  (state.parts[PARTS.exports(namespace)] ?? '{}').slice(1, -1),
  ...(items === undefined ? [] : itemMembers(itemOutcomes(state, namespace, items))),
];

/** JSON text of the exports of a step, with what its items left. Null for a step without any. */
export const exportsText = (state: RunState, namespace: string): string | null => {
  const outcome = outcomeOf(state, namespace);
  if (outcome?.items === undefined) return state.parts[PARTS.exports(namespace)] ?? null;
  return `{${exportMembers(state, namespace, outcome).join()}}`;
};

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
    const members = exportMembers(state, namespace, outcome);
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
