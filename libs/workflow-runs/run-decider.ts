import { type Decider } from '#libs/kernel/decider.js';
import { nestsTooDeep } from '#libs/framing/json-text.js';
import { endWait } from './end-wait.js';
import { NO_RESULT, failStep, finishStep } from './finish-step.js';
import { beginLoop, finishItem, interruptItems, retryItems } from './loop.js';
import { INTERRUPTIONS, RUN_BYTES, draftDiscarded, limitError, processLost } from './run-limits.js';
import { type RunFact } from './run-facts.js';
import { type InputOf, type RunInput } from './run-inputs.js';
import { type RunPlan } from './run-plan.js';
import { type RunState, evolveRun, exists, hasEnded, initialRun, keptResume } from './run-state.js';
import { cancelAnswer, resumeAnswer, wasResumedBy } from './run-steering.js';
import { onward, restartStep } from './step-order.js';

/**
 * Rules of one run of a workflow. The plan is that of the version to which the run is pinned or, before its first start,
 * of the deployed one. An input that is late, or a repeat, leads to no fact.
 */
export const runDecider = (plan: RunPlan): Decider<RunInput, RunFact, RunState> => ({
  category: 'run',
  initialState: () => initialRun,
  decide: (input, state) => decideRun(plan, state, input),
  evolve: evolveRun,
});

const decideRun = (plan: RunPlan, state: RunState, input: RunInput): RunFact[] => {
  if (input.type === 'arrive') return exists(state) ? [] : arrive(input);
  if (!exists(state) || hasEnded(state)) return [];
  if (plan.isGone && NEEDS_PLAN.has(input.type)) return gone(state, input);
  switch (input.type) {
    case 'refuse':
      return refuse(state, input);
    case 'start':
      return start(plan, state, input.now);
    case 'outcome':
      if (state.head.loop) return finishItem(plan, state, input);
      return runs(state, input.execution) ? finish(plan, state, input) : [];
    case 'interrupt':
      if (state.head.loop) return interruptItems(plan, state, input);
      return runs(state, input.execution) ? interrupt(plan, state, input) : [];
    case 'alarm':
      return alarm(state, input);
    case 'resume':
      return resume(state, input);
    case 'cancel': {
      const { now, reason, by, request } = input;
      if (cancelAnswer(state, input) !== 'cancels') return [];
      return [{ type: 'RunCancelled', data: { at: now, reason, by, ...(request === undefined ? {} : { request }) } }];
    }
  }
};

const NEEDS_PLAN: ReadonlySet<RunInput['type']> = new Set<RunInput['type']>(['start', 'outcome', 'interrupt']);

/** A run that a former owner left goes on, and fails with the outcome of its execution, which can be stored. */
const gone = ({ head }: RunState, input: RunInput): RunFact[] => {
  if (input.type === 'interrupt' && input.cause === 'owner') return [];
  const namespace = head.position?.namespace ?? null;
  return [{ type: 'RunFailed', data: { at: input.now, namespace, error: draftDiscarded() } }];
};

const runs = ({ head }: RunState, execution: number): boolean =>
  head.status === 'running' && head.executions === execution;

const finish = (plan: RunPlan, state: RunState, input: InputOf<'outcome'>): RunFact[] =>
  input.outcome.kind === 'listed'
    ? beginLoop(plan, state, input, input.outcome)
    : finishStep(plan, state, input, input.outcome);

const arrive = ({ now, origin, place, event, reused, kept, notrigger }: InputOf<'arrive'>): RunFact[] => {
  const whole: RunFact = { type: 'RunArrived', data: { origin, place, event, reused, ...(kept ? { kept } : {}) } };
  const { bytes } = evolveRun(initialRun, whole).head;
  if (bytes > RUN_BYTES) {
    const message = `the event and the outcomes that the run begins with have ${bytes} bytes, the limit is ${RUN_BYTES}`;
    return [
      { type: 'RunArrived', data: { origin, place, event: null, reused: [] } },
      { type: 'RunFailed', data: { at: now, namespace: null, error: limitError('payload', message) } },
    ];
  }
  if (nestsTooDeep(event)) {
    const error = limitError('nesting', 'the event nests deeper than 256 levels');
    return [whole, { type: 'RunFailed', data: { at: now, namespace: null, error } }];
  }
  return notrigger ? [whole, { type: 'RunExited', data: { at: now, reason: 'x-pd-notrigger' } }] : [whole];
};

const refuse = ({ head }: RunState, { now, queueSize }: InputOf<'refuse'>): RunFact[] => {
  if (head.startedAt !== null) return [];
  const error = limitError(
    'queue',
    `${queueSize} runs of this workflow already wait for their start: replay this one later`,
  );
  return [{ type: 'RunFailed', data: { at: now, namespace: null, error } }];
};

const start = (plan: RunPlan, state: RunState, at: number): RunFact[] => {
  const { status, position, resumed } = state.head;
  if (status !== 'queued') return [];
  const deadline = at + plan.timeoutSeconds * 1_000;
  if (!position) {
    const { version } = plan;
    return [{ type: 'RunStarted', data: { at, deadline, version } }, ...onward(plan, state, 0, at)];
  }
  const stretch: RunFact = { type: 'StretchBegun', data: { at, deadline } };
  const { namespace, runs, attempt } = position;
  switch (resumed?.kind) {
    case 'retry':
      if (state.head.loop) return retryItems(plan, state, stretch, at);
      return [stretch, restartStep({ namespace, runs, attempt: attempt + 1 }, at)];
    case 'rerun':
      return [stretch, restartStep({ namespace, runs: runs + 1, attempt: 1 }, at)];
    case 'delay':
    case 'suspend':
    case undefined: {
      const index = plan.steps.findIndex((step) => step.namespace === namespace);
      return [stretch, ...onward(plan, state, index + 1, at)];
    }
  }
};

const interrupt = (plan: RunPlan, state: RunState, { now, cause, mayWait }: InputOf<'interrupt'>): RunFact[] => {
  const lost = state.head.position?.interruptions ?? 0;
  if (cause === 'process' && lost >= INTERRUPTIONS) {
    return failStep(plan, state, { now, mayWait, result: NO_RESULT, error: processLost(lost + 1) });
  }
  const deadline = now + plan.timeoutSeconds * 1_000;
  return [{ type: 'StepInterrupted', data: { at: now, deadline, cause } }];
};

/** The process that published the alarm has compared the clock, so this compares only which wait it belongs to. */
const alarm = ({ head }: RunState, { now, execution, dueAt }: InputOf<'alarm'>): RunFact[] => {
  const { wait, executions } = head;
  if (!wait || executions !== execution || wait.resumeAt !== dueAt) return [];
  return wait.kind === 'suspend'
    ? [{ type: 'RunCancelled', data: { at: now, reason: 'suspend_timeout', by: null } }]
    : [{ type: 'WaitEnded', data: { at: now, resume: null } }];
};

const resume = (state: RunState, input: InputOf<'resume'>): RunFact[] => {
  const { now, data, by, request } = input;
  if (wasResumedBy(state, request)) return [];
  const given = { data, by, ...(request === undefined ? {} : { request }) };
  const answer = resumeAnswer(state, input);
  if (answer === 'kept' && keptResume(state)) return [];
  if (answer === 'kept') return [{ type: 'ResumeKept', data: { at: now, resume: given } }];
  return answer === 'ends' ? endWait(state, given, now) : [];
};
