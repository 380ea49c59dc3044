import { type InputOf } from './run-inputs.js';
import { type RunState, exists, hasEnded, keptResume } from './run-state.js';

/**
 * What a request to resume does: `ends` the wait, is `kept` until the running step begins its wait, or finds that the
 * wait is `over`. The API may end any wait, but not one that has not begun.
 */
export const resumeAnswer = (
  state: RunState,
  { execution, request }: Pick<InputOf<'resume'>, 'execution' | 'request'>,
): 'ends' | 'kept' | 'over' => {
  const { status, executions } = state.head;
  if (wasResumedBy(state, request)) return 'ends';
  if (execution !== null && execution !== executions) return 'over';
  if (status === 'waiting') return 'ends';
  if (status !== 'running' || execution === null) return 'over';
  const kept = keptResume(state);
  return !kept || isSame(kept.request, request) ? 'kept' : 'over';
};

/** Whether this request ended the run's last wait. After a crash the lane repeats it, and it must not end another wait. */
export const wasResumedBy = ({ head }: RunState, request: string | undefined): boolean =>
  isSame(head.resumed?.request, request);

const isSame = (known: string | undefined, request: string | undefined): boolean =>
  request !== undefined && known === request;

/** What a request to cancel does. A URL is void once the wait of its execution is over. */
export const cancelAnswer = (
  state: RunState,
  { execution, request }: Pick<InputOf<'cancel'>, 'execution' | 'request'>,
): 'cancels' | 'already' | 'finished' | 'over' => {
  const { status, executions, cancelRequest } = state.head;
  if (isSame(cancelRequest, request)) return 'cancels';
  if (execution !== null && (execution !== executions || status === 'queued')) return 'over';
  if (!hasEnded(state)) return 'cancels';
  if (execution !== null) return 'over';
  return status === 'cancelled' ? 'already' : 'finished';
};

/** What a request to cancel or resume did. */
export interface SteeringAnswer {
  /** `unknown` for a run that its journal no longer has, which has ended, and for one that never was. */
  readonly result: ReturnType<typeof resumeAnswer> | ReturnType<typeof cancelAnswer> | 'unknown';
  /** Version of the run with that. */
  readonly version: number;
}

export const steeringResult = (state: RunState, input: InputOf<'resume' | 'cancel'>): SteeringAnswer['result'] => {
  if (!exists(state)) return 'unknown';
  return input.type === 'resume' ? resumeAnswer(state, input) : cancelAnswer(state, input);
};

/** Whether the URLs of an execution are void. A state that is behind the run may not know that yet. */
export const isVoid = (state: RunState, execution: number): boolean =>
  state.head.executions >= execution && cancelAnswer(state, { execution }) === 'over';

/** The alarm that a waiting run needs. Null for any other. */
export const alarmOf = (run: string, { head }: RunState): { readonly id: string; readonly dueAt: number } | null => {
  const { wait, executions } = head;
  if (!wait) return null;
  // A crash between alarm and commit repeats the execution, and its wait ends later. The time in the id keeps the first
  // alarm, once it is consumed, from removing the second, and tells the run that it is old.
  return { id: `${run}/${executions}.${wait.resumeAt}`, dueAt: wait.resumeAt };
};
