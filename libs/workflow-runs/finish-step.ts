import { type UserError } from '#libs/component-model/run-output.js';
import { nestsTooDeep } from '#libs/framing/json-text.js';
import { derivedId } from '#libs/kernel/ids.js';
import { type StepFlow } from '#libs/component-model/step-run.js';
import { endWait } from './end-wait.js';
import { type ExecutionRecord, type RunFact } from './run-facts.js';
import { type InputOf, type ListedOutcome, type Outcome, type StepResult } from './run-inputs.js';
import { RUN_BYTES, boundedError, boundedLog, limitError, refreshedDeadline, retryPauseMs } from './run-limits.js';
import { type PlannedStep, type RunPlan, isRetried, retryPolicyOf, stepAfterFailure, tellsFirst } from './run-plan.js';
import { type Position, type RunState, evolveRun, keptResume, originOf } from './run-state.js';
import { onward, skipBetween } from './step-order.js';

/** A failure without the data of its execution, which was lost or exceeds a limit. */
export const NO_RESULT: StepResult = { exports: {}, props: null, logs: [], sends: [], reply: null };

/** An error that replaces another one for its size names that one in short. */
const CAUSE_BYTES = 1_024;
export const shortCause = (error: UserError): UserError => boundedError(error, CAUSE_BYTES);

const currentStep = (
  plan: RunPlan,
  { head }: RunState,
): { readonly step: PlannedStep; readonly index: number; readonly position: Position } | undefined => {
  const { position } = head;
  const index = plan.steps.findIndex(({ namespace }) => namespace === position?.namespace);
  const step = plan.steps[index];
  return position && step ? { step, index, position } : undefined;
};

/** Decides on the outcome of the running execution. It and the start of what follows are one write. */
export const finishStep = (
  plan: RunPlan,
  state: RunState,
  { now, mayWait }: Pick<InputOf<'outcome'>, 'now' | 'mayWait'>,
  outcome: Exclude<Outcome, ListedOutcome>,
): RunFact[] => {
  const current = currentStep(plan, state);
  if (!current) return [];
  const { namespace } = current.step;
  switch (outcome.kind) {
    case 'skipped': {
      const skipped: RunFact = { type: 'StepSkipped', data: { at: now, namespace, reason: 'if' } };
      return [skipped, ...onward(plan, state, current.index + 1, now)];
    }
    case 'failed':
      return failStep(plan, state, { now, mayWait, result: outcome.result, error: outcome.error });
    case 'succeeded': {
      const { result } = outcome;
      const flow = appliesTo(state, current.position, outcome.flow);
      const succeeded: RunFact = { type: 'StepSucceeded', data: { at: now, ...recordOf(plan, state, result) } };
      const then = flow ? applied(flow, now) : onward(plan, state, current.index + 1, now);
      const facts = [succeeded, ...then];
      const waits = then.some(({ type }) => type === 'WaitBegun');
      const error = exceededLimit(state, facts, result, flow);
      if (waits && !mayWait && !error) return failStep(plan, state, { now, mayWait, result, error: tooManyWait() });
      if (error) return failStep(plan, state, { now, mayWait, result: NO_RESULT, error });
      const kept = waits ? keptResume(state) : undefined;
      return kept ? [...facts, ...endWait(facts.reduce(evolveRun, state), kept, now)] : facts;
    }
  }
};

interface Failure {
  readonly now: number;
  readonly mayWait: boolean;
  readonly result: StepResult;
  readonly error: UserError;
}

/** Tries a failed step again later, goes on where its `on_error` says, or ends the run. */
export const failStep = (plan: RunPlan, state: RunState, failure: Failure): RunFact[] => {
  const current = currentStep(plan, state);
  if (!current) return [];
  const { now, mayWait, result } = failure;
  const error = boundedError(failure.error);
  const { step, index, position } = current;
  const { namespace } = step;
  const record = { at: now, ...recordOf(plan, state, result), error };
  const failed: RunFact = { type: 'StepFailed', data: { ...record, retryAt: null, notifies: false } };
  if (result !== NO_RESULT) {
    const limit = exceededLimit(state, [failed], result, null);
    if (limit)
      return failStep(plan, state, {
        ...failure,
        result: NO_RESULT,
        error: { ...limit, cause: shortCause(error) },
      });
  }
  // Of a loop the items were tried again.
  const policy = originOf(state).test || state.head.loop ? null : retryPolicyOf(step, plan);
  if (policy && isRetried(policy, error.code, position.attempt)) {
    if (!mayWait)
      return failStep(plan, state, {
        ...failure,
        error: { ...tooManyWait(), cause: shortCause(error) },
      });
    const retryAt = now + retryPauseMs(policy, position.attempt);
    const notifies = position.attempt === 1 && tellsFirst(plan, step);
    return [
      { type: 'StepFailed', data: { ...record, retryAt, notifies } },
      { type: 'WaitBegun', data: { at: now, kind: 'retry', resumeAt: retryAt, context: null } },
    ];
  }
  const next = stepAfterFailure(plan, index, error.code);
  if (next === undefined) return [failed, { type: 'RunFailed', data: { at: now, namespace, error } }];
  const deadline = now + plan.timeoutSeconds * 1_000;
  const stretch: RunFact[] =
    error.code === 'Timeout' || state.head.loop ? [{ type: 'StretchBegun', data: { at: now, deadline } }] : [];
  const facts = [failed, ...stretch, ...skipBetween(plan, index, next, now)];
  return [...facts, ...onward(plan, facts.reduce(evolveRun, state), next, now)];
};

export const tooManyWait = (): UserError =>
  limitError('waiting', 'as many runs of this workflow wait as may: the run cannot wait too');

/** What of a step's wish applies: waits of tests do not pause, and a rerun has its own limit. */
const appliesTo = (state: RunState, { runs }: Position, flow: StepFlow | null): StepFlow | null => {
  if (flow === null || flow.kind === 'exit') return flow;
  if (originOf(state).test) return null;
  return flow.kind === 'rerun' && runs > flow.maxRetries ? null : flow;
};

const applied = (flow: StepFlow, at: number): RunFact[] => {
  if (flow.kind === 'exit') return [{ type: 'RunExited', data: { at, reason: flow.reason } }];
  const context = flow.kind === 'rerun' ? flow.context : null;
  return [{ type: 'WaitBegun', data: { at, kind: flow.kind, resumeAt: at + flow.ms, context } }];
};

/** The execution as it is stored. Ids of messages come out the same when a crash repeats it. */
export const recordOf = (
  plan: RunPlan,
  state: RunState,
  result: StepResult,
  execution: number = state.head.executions,
): ExecutionRecord => {
  const { id, hasCaller } = originOf(state);
  const { stretch } = state.head;
  const exports = Object.entries(result.exports).map(([name, json]) => `${JSON.stringify(name)}:${json}`);
  return {
    exports: `{${exports.join()}}`,
    props: result.props,
    logs: boundedLog(result.logs),
    sends: result.sends.map(({ kind, error }, index) => ({
      id: derivedId('snd', id, String(execution), String(index)),
      kind,
      ...(error === undefined ? {} : { error }),
    })),
    reply: hasCaller ? result.reply : null,
    deadline: stretch ? refreshedDeadline(stretch, result.refreshedAt, plan.timeoutSeconds) : 0,
  };
};

/** The limit that the run exceeds with these facts. */
export const exceededLimit = (
  state: RunState,
  facts: readonly RunFact[],
  { exports, props, sends }: StepResult,
  flow: StepFlow | null,
): UserError | undefined => {
  const deep = [...Object.entries(exports), ['props', props ?? ''] as const].find(([, json]) => nestsTooDeep(json));
  if (deep) return limitError('nesting', `${deep[0]} nests deeper than 256 levels`);
  if (flow?.kind === 'rerun' && nestsTooDeep(flow.context ?? ''))
    return limitError('nesting', 'the context of $.flow.rerun nests deeper than 256 levels');
  const stored = facts.reduce(evolveRun, state).head.bytes;
  const bytes = sends.reduce((sum, send) => sum + send.bytes, stored);
  return bytes > RUN_BYTES
    ? limitError('payload', `with the outcome of this step the run has ${bytes} bytes, the limit is ${RUN_BYTES}`)
    : undefined;
};
