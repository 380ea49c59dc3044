import { type RunFact, type SkipReason } from './run-facts.js';
import { type PlannedStep, type RunPlan } from './run-plan.js';
import { type RunState, outcomeOf } from './run-state.js';

type Execution = Extract<RunFact, { readonly type: 'StepStarted' }>['data'];

export const restartStep = (execution: Omit<Execution, 'at'>, at: number): RunFact => ({
  type: 'StepStarted',
  data: { at, ...execution },
});

/**
 * Starts the first step from `index` on that may run, and skips those before it. Without one the run has succeeded. Steps
 * with an outcome are those that a replay reuses.
 */
export const onward = (plan: RunPlan, state: RunState, index: number, at: number): RunFact[] => {
  const facts: RunFact[] = [];
  for (const step of plan.steps.slice(index)) {
    const { namespace } = step;
    if (outcomeOf(state, namespace)) continue;
    const reason = reasonToSkip(plan, state, step);
    if (reason === undefined) return [...facts, restartStep({ namespace, runs: 1, attempt: 1 }, at)];
    facts.push({ type: 'StepSkipped', data: { at, namespace, reason } });
  }
  return [...facts, { type: 'RunSucceeded', data: { at } }];
};

/** A step that others name in `on_error` is a handler. It runs only when one of them has failed. */
const reasonToSkip = ({ steps }: RunPlan, state: RunState, step: PlannedStep): SkipReason | undefined => {
  if (step.disabled) return 'disabled';
  const handled = steps.filter(({ onError }) => onError === step.namespace);
  const isReached = handled.some(({ namespace }) => outcomeOf(state, namespace)?.state === 'failed');
  return handled.length === 0 || isReached ? undefined : 'handler';
};

/** Skips what lies between a step that failed and the one to which its error leads. */
export const skipBetween = (plan: RunPlan, failed: number, next: number, at: number): RunFact[] =>
  plan.steps
    .slice(failed + 1, next)
    .map(({ namespace }) => ({ type: 'StepSkipped', data: { at, namespace, reason: 'on_error' } }));
