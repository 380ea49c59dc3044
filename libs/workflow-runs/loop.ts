import { SUMMARY } from '#libs/component-model/step-run.js';
import { type UserError } from '#libs/component-model/run-output.js';
import { nestsTooDeep } from '#libs/framing/json-text.js';
import { NO_RESULT, exceededLimit, failStep, recordOf, shortCause, tooManyWait } from './finish-step.js';
import { type ItemPlace, LOOP_PARTS, type Loop, MOST_ITEMS, isExecuting, itemOutcomes } from './loop-state.js';
import { type RunFact } from './run-facts.js';
import { type InputOf, type ListedOutcome, type Outcome, type StepResult } from './run-inputs.js';
import { INTERRUPTIONS, RUN_BYTES, boundedError, limitError, processLost, retryPauseMs } from './run-limits.js';
import { type PlannedStep, type RunPlan, isRetried, retryPolicyOf, stepAfterFailure, tellsFirst } from './run-plan.js';
import { partOf } from './run-parts.js';
import { type RunState, evolveRun, originOf } from './run-state.js';
import { onward } from './step-order.js';

interface CurrentLoop {
  readonly step: PlannedStep;
  readonly index: number;
  readonly loop: Loop;
}

const currentLoop = (plan: RunPlan, { head }: RunState): CurrentLoop | undefined => {
  const { loop, position } = head;
  const index = plan.steps.findIndex(({ namespace }) => namespace === position?.namespace);
  const step = plan.steps[index];
  return loop && step ? { step, index, loop } : undefined;
};

/** Begins the loop of the current step with its list, which is evaluated once. */
export const beginLoop = (
  plan: RunPlan,
  state: RunState,
  { now, mayWait }: Pick<InputOf<'outcome'>, 'now' | 'mayWait'>,
  { list, count }: ListedOutcome,
): RunFact[] => {
  const fails = (error: UserError): RunFact[] => failStep(plan, state, { now, mayWait, result: NO_RESULT, error });
  if (count > MOST_ITEMS)
    return fails(limitError('items', `the list of for_each has ${count} items, the limit is ${MOST_ITEMS}`));
  if (nestsTooDeep(list)) return fails(limitError('nesting', 'the list of for_each nests deeper than 256 levels'));
  const listed: RunFact = { type: 'ItemsListed', data: { at: now, list, count } };
  const { bytes } = evolveRun(state, listed).head;
  if (bytes > RUN_BYTES)
    return fails(
      limitError('payload', `with the list of for_each the run has ${bytes} bytes, the limit is ${RUN_BYTES}`),
    );
  return goOn(plan, state, [listed], now);
};

/** Decides on the outcome of one item. It and the starts of the items that follow are one write. */
export const finishItem = (plan: RunPlan, state: RunState, input: InputOf<'outcome'>): RunFact[] => {
  const current = currentLoop(plan, state);
  const place = current && executingPlace(current.loop, input.execution);
  const { now, outcome } = input;
  if (!current || !place || !isOfItem(outcome)) return [];
  const { result } = outcome;
  if (outcome.kind === 'failed') return goOn(plan, state, [failItem(plan, state, place, input, outcome)], now);
  const { flow } = outcome;
  const exit = flow?.kind === 'exit' ? { reason: flow.reason } : null;
  const succeeded: RunFact = {
    type: 'ItemSucceeded',
    data: { ...itemRecord(plan, state, place, now, result), exit },
  };
  const error = exceededLimit(state, [succeeded], result, null);
  const ended = error ? failItem(plan, state, place, input, { result: NO_RESULT, error }) : succeeded;
  return goOn(plan, state, [ended], now);
};

const isOfItem = (outcome: Outcome): outcome is Extract<Outcome, { readonly result: StepResult }> =>
  outcome.kind === 'succeeded' || outcome.kind === 'failed';

/** An execution was lost, with all others of the run or by itself. */
export const interruptItems = (plan: RunPlan, state: RunState, input: InputOf<'interrupt'>): RunFact[] => {
  const current = currentLoop(plan, state);
  if (!current?.loop.places.some(isExecuting)) return [];
  const { now, execution, cause } = input;
  const data = { at: now, deadline: deadlineOf(plan, current.step, now), cause };
  if (cause === 'owner') return [{ type: 'StepInterrupted', data }];
  const place = executingPlace(current.loop, execution);
  if (!place) return [];
  if (place.interruptions < INTERRUPTIONS) return [{ type: 'StepInterrupted', data: { ...data, execution } }];
  const error = processLost(place.interruptions + 1);
  return goOn(plan, state, [failItem(plan, state, place, input, { result: NO_RESULT, error })], now);
};

/** Starts the items that the run waited for. A resume before their time starts those that are due first. */
export const retryItems = (plan: RunPlan, state: RunState, begins: RunFact, now: number): RunFact[] => {
  const first = Math.min(...(state.head.loop?.places ?? []).map(({ retryAt }) => retryAt ?? Infinity));
  return goOn(plan, state, [begins], now, Math.max(now, first));
};

const executingPlace = ({ places }: Loop, execution: number): ItemPlace | undefined =>
  places.find((place) => place.execution === execution && isExecuting(place));

/** Each item has a stretch of its own. */
const deadlineOf = (plan: RunPlan, { timeoutSeconds }: PlannedStep, now: number): number =>
  now + Math.min(plan.timeoutSeconds, timeoutSeconds ?? Infinity) * 1_000;

/** The item keeps its place when it is tried again. */
const failItem = (
  plan: RunPlan,
  state: RunState,
  place: ItemPlace,
  { now, mayWait }: Pick<InputOf<'outcome'>, 'now' | 'mayWait'>,
  failure: { readonly result: StepResult; readonly error: UserError },
): RunFact => {
  const index = plan.steps.findIndex(({ namespace }) => namespace === state.head.position?.namespace);
  const step = plan.steps[index];
  const factOf = (result: StepResult, error: UserError): Extract<RunFact, { readonly type: 'ItemFailed' }> => {
    const policy = step && !originOf(state).test ? retryPolicyOf(step, plan) : null;
    const isTriedAgain = policy !== null && isRetried(policy, error.code, place.attempt);
    if (isTriedAgain && !mayWait) return factOf(result, { ...tooManyWait(), cause: shortCause(error) });
    const retryAt = isTriedAgain ? now + retryPauseMs(policy, place.attempt) : null;
    const isFatal = step?.onError !== 'continue' || stepAfterFailure(plan, index, error.code) === undefined;
    const record = itemRecord(plan, state, place, now, result);
    const notifies =
      isTriedAgain && state.head.loop?.hasFailed === false && step !== undefined && tellsFirst(plan, step);
    const stops = retryAt === null && isFatal;
    return { type: 'ItemFailed', data: { ...record, error, retryAt, stops, notifies } };
  };
  const error = boundedError(failure.error);
  const fact = factOf(failure.result, error);
  const limit = failure.result === NO_RESULT ? undefined : exceededLimit(state, [fact], failure.result, null);
  return limit ? factOf(NO_RESULT, { ...limit, cause: shortCause(error) }) : fact;
};

const itemRecord = (plan: RunPlan, state: RunState, { execution }: ItemPlace, at: number, result: StepResult) => {
  const { exports, logs, sends, reply } = recordOf(plan, state, result, execution);
  return { at, execution, exports, logs, sends, reply };
};

/** Starts the items that have a place now. Without any that executes, the run waits for the next retry, or the loop ends. */
const goOn = (
  plan: RunPlan,
  before: RunState,
  facts: readonly RunFact[],
  now: number,
  dueUntil: number = now,
): RunFact[] => {
  const all = [...facts];
  let state = facts.reduce(evolveRun, before);
  const current = currentLoop(plan, state);
  if (!current) return all;
  const { step, loop } = current;
  const deadline = deadlineOf(plan, step, now);
  const starts = (index: number, attempt: number): void => {
    const started: RunFact = { type: 'ItemStarted', data: { at: now, deadline, index, attempt } };
    all.push(started);
    state = evolveRun(state, started);
  };
  const endsEarly = loop.stops || loop.exit !== null;
  if (!endsEarly) {
    for (const { index, attempt, retryAt } of loop.places)
      if (retryAt !== null && retryAt <= dueUntil) starts(index, attempt + 1);
    let free = (step.loop?.concurrency ?? 1) - loop.places.length;
    for (let index = loop.next; index < loop.count && free > 0; index++) {
      // A replay has the outcome of an item that succeeded before.
      if (partOf(state, LOOP_PARTS.item(step.namespace, index)) !== undefined) continue;
      starts(index, 1);
      free--;
    }
  }
  const places = state.head.loop?.places ?? [];
  if (places.some(isExecuting)) return all;
  if (endsEarly || places.length === 0) return [...all, ...endLoop(plan, state, now)];
  const resumeAt = Math.min(...places.map(({ retryAt }) => retryAt ?? Infinity));
  return [...all, { type: 'WaitBegun', data: { at: now, kind: 'retry', resumeAt, context: null } }];
};

/** The step fails with the error of the lowest index. After the last item the run has a new stretch. */
const endLoop = (plan: RunPlan, state: RunState, now: number): RunFact[] => {
  const current = currentLoop(plan, state);
  if (!current) return [];
  const { step, index, loop } = current;
  const outcomes = itemOutcomes(state, step.namespace, loop.count);
  const ok = outcomes.filter((outcome) => outcome?.state === 'succeeded').length;
  const result = { ...NO_RESULT, exports: { [SUMMARY]: JSON.stringify(`${ok} of ${loop.count} items`) } };
  const error = loop.stops ? outcomes.find((outcome) => outcome?.state === 'failed')?.error : undefined;
  if (error) return failStep(plan, state, { now, mayWait: true, result, error });
  const succeeded: RunFact = { type: 'StepSucceeded', data: { at: now, ...recordOf(plan, state, result) } };
  if (loop.exit) return [succeeded, { type: 'RunExited', data: { at: now, reason: loop.exit.reason } }];
  const stretch: RunFact = { type: 'StretchBegun', data: { at: now, deadline: now + plan.timeoutSeconds * 1_000 } };
  return [succeeded, stretch, ...onward(plan, state, index + 1, now)];
};
