import { nestsTooDeep } from '#libs/framing/json-text.js';
import { type Resume, type RunFact } from './run-facts.js';
import { RUN_BYTES, limitError } from './run-limits.js';
import { type RunState, evolveRun } from './run-state.js';

/** Ends the wait of a run. Data beyond the limit of the run is dropped and fails it. */
export const endWait = (state: RunState, resume: Resume, at: number): RunFact[] => {
  const ends: RunFact = { type: 'WaitEnded', data: { at, resume } };
  const { bytes } = evolveRun(state, ends).head;
  const tooDeep = resume.data !== null && nestsTooDeep(resume.data);
  if (bytes <= RUN_BYTES && !tooDeep) return [ends];
  const error = tooDeep
    ? limitError('nesting', 'the data of the resume nests deeper than 256 levels')
    : limitError('payload', `with the data of the resume the run has ${bytes} bytes, the limit is ${RUN_BYTES}`);
  const namespace = state.head.position?.namespace ?? null;
  return [
    { type: 'WaitEnded', data: { at, resume: { ...resume, data: null } } },
    { type: 'RunFailed', data: { at, namespace, error } },
  ];
};
