import { type Invocation as Published } from '#libs/stream-log/invocations.js';
import { evolveRun, initialRun, type RunState } from '#libs/workflow-runs/run-state.js';
import { arrivalOf } from './workflow-input.js';

/** The run that an invocation will start, as it is until its workflow's runner reads it. */
export const arrivedRun = ({ headers, value }: Published, now: number): RunState => {
  const record = { value, offset: 0, timestamp: now };
  const { origin, place, event, reused, kept } = arrivalOf({ headers, record }, now);
  return evolveRun(initialRun, {
    type: 'RunArrived',
    data: { origin, place, event, reused, ...(kept ? { kept } : {}) },
  });
};
