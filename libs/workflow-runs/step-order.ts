import { type RunFact, type SkipReason } from './run-facts.js';
import { type PlannedStep, type RunPlan, isHandler } from './run-plan.js';
import { type RunState, outcomeOf } from './run-state.js';

type Execution = Extract<RunFact, { readonly type: 'StepStarted' }>['data'];

export const restartStep = (execution: Omit<Execution, 'at'>, at: number): RunFact => ({
  type: 'StepStarted',
  data: { at, ...execution },
});

/**
 * Starts the first step from `index` on that may run, and skips those before it. Without one the run has succeeded. Steps
 * with an outcome are those that a replay has adopted. `viaError`: an error leads to the step at `index`.
 */
export const onward = (plan: RunPlan, state: RunState, index: number, at: number, viaError = false): RunFact[] => {
  const facts: RunFact[] = [];
  for (const [place, step] of plan.steps.entries()) {
    const { namespace } = step;
    if (place < index || outcomeOf(state, namespace)) continue;
    const reason = reasonToSkip(plan, step, viaError && place === index);
    if (reason === undefined) return [...facts, restartStep({ namespace, runs: 1, attempt: 1 }, at)];
    facts.push({ type: 'StepSkipped', data: { at, namespace, reason } });
  }
  return [...facts, { type: 'RunSucceeded', data: { at } }];
};

const reasonToSkip = (plan: RunPlan, step: PlannedStep, viaError: boolean): SkipReason | undefined => {
  if (step.disabled) return 'disabled';
  return isHandler(plan, step) && !viaError ? 'handler' : undefined;
};

/** Skips what lies between a step that failed and the one to which its error leads. */
export const skipBetween = (plan: RunPlan, failed: number, next: number, at: number): RunFact[] =>
  plan.steps
    .slice(failed + 1, next)
    .map(({ namespace }) => ({ type: 'StepSkipped', data: { at, namespace, reason: 'on_error' } }));
