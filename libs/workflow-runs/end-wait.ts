import { nestsTooDeep } from '#libs/framing/json-text.js';
import { type Resume, type RunFact } from './run-facts.js';
import { RUN_BYTES, limitError } from './run-limits.js';
import { type RunState, evolveRun } from './run-state.js';

/** Ends the wait of a run. Data beyond the limits of the run is dropped and fails it. A retry needs none. */
export const endWait = (state: RunState, { data, ...request }: Resume, at: number): RunFact[] => {
  const { wait, position } = state.head;
  const kept = wait?.kind === 'retry' ? null : data;
  const ends: RunFact = { type: 'WaitEnded', data: { at, resume: { data: kept, ...request } } };
  const { bytes } = evolveRun(state, ends).head;
  const tooDeep = kept !== null && nestsTooDeep(kept);
  if (bytes <= RUN_BYTES && !tooDeep) return [ends];
  const error = tooDeep
    ? limitError('nesting', 'the data of the resume nests deeper than 256 levels')
    : limitError('payload', `with the data of the resume the run has ${bytes} bytes, the limit is ${RUN_BYTES}`);
  return [
    { type: 'WaitEnded', data: { at, resume: { data: null, ...request } } },
    { type: 'RunFailed', data: { at, namespace: position?.namespace ?? null, error } },
  ];
};
