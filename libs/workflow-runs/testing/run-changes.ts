import { type RunChange, runChangeOf } from '../run-change.js';
import { type RunOrigin } from '../run-facts.js';
import { type RunInput } from '../run-inputs.js';
import { initialRun, type RunState } from '../run-state.js';
import { arrive, origin as sampleOrigin, planOf, stateOf, step } from './run-samples.js';

/** Steps `a` and `b`. */
export const ab = planOf([step('a'), step('b')]);

/** The changes of a run of `ab` that arrives and then has these inputs, one for each. */
export const changesOf = (of: Partial<RunOrigin>, ...inputs: readonly RunInput[]): RunChange[] => {
  const origin = { ...sampleOrigin, traceId: of.id ?? sampleOrigin.id, ...of };
  const { id: runId, workflowId, ownerId: workspaceId } = origin;
  const states: RunState[] = [initialRun];
  const given: RunInput[] = [];
  for (const input of [arrive({ origin }), ...inputs]) {
    given.push(input);
    states.push(stateOf(ab, ...given));
  }
  return states
    .slice(1)
    .map((after, at) =>
      runChangeOf({ runId, workflowId, workspaceId, version: at + 1 }, states[at] ?? initialRun, after),
    );
};
