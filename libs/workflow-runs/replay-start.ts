import { type ReusedStep } from './run-facts.js';
import { type RunPlan } from './run-plan.js';
import { PARTS, type RunState, hasEnded, originOf, outcomeOf, runErrorOf } from './run-state.js';

/** What a replay begins with, or why it cannot. `keyRun` is null when its idempotency keys begin with its own id. */
export type ReplayStart =
  | { readonly reused: readonly ReusedStep[]; readonly keyRun: string | null }
  | { readonly refused: 'run_not_finished' | 'nothing_failed' }
  | { readonly refused: 'step_not_reached'; readonly namespace: string };

/**
 * Begins a replay of a run with a version's plan, from `start`, `failed` or a namespace. Steps before it are reused by
 * namespace with their outcomes. Only a replay from the failed step continues the same work, under the same keys.
 */
export const replayStart = (plan: RunPlan, state: RunState, from: string): ReplayStart => {
  if (!hasEnded(state)) return { refused: 'run_not_finished' };
  if (from === 'start') return { reused: [], keyRun: null };
  const continues = from === 'failed';
  if (continues && state.head.status !== 'failed') return { refused: 'nothing_failed' };
  const keyRun = continues ? originOf(state).keyRun : null;
  const failed = runErrorOf(state)?.namespace ?? null;
  const first = continues ? failed : from;
  // The run failed before its first step, for example because the queue was full.
  if (first === null) return { reused: [], keyRun };
  const index = plan.steps.findIndex(({ namespace }) => namespace === first);
  if (index === -1) return { refused: 'step_not_reached', namespace: first };
  const reused: ReusedStep[] = [];
  for (const { namespace } of plan.steps.slice(0, index)) {
    const step = state.parts[PARTS.step(namespace)];
    const hasOutcome = namespace !== failed && outcomeOf(state, namespace)?.state !== 'cancelled';
    if (step === undefined || !hasOutcome) return { refused: 'step_not_reached', namespace };
    const exports = state.parts[PARTS.exports(namespace)] ?? null;
    reused.push({ namespace, step, exports, resumeData: state.parts[PARTS.resumeData(namespace)] ?? null });
  }
  return { reused, keyRun };
};
