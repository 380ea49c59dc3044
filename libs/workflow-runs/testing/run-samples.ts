import { fold } from '#libs/kernel/decider.js';
import { type StepFlow } from '#libs/component-model/step-run.js';
import { runDecider } from '../run-decider.js';
import { type RunFact, type RunOrigin } from '../run-facts.js';
import { type InputOf, type RunInput, type StepResult } from '../run-inputs.js';
import { type PlannedStep, type RunPlan } from '../run-plan.js';
import { type RunState } from '../run-state.js';

export const step = (namespace: string, changed: Partial<PlannedStep> = {}): PlannedStep => ({
  namespace,
  id: `c_${namespace}`,
  disabled: false,
  hasIf: false,
  retry: null,
  timeoutSeconds: null,
  onError: 'stop',
  ...changed,
});

export const planOf = (steps: readonly PlannedStep[], changed: Partial<RunPlan> = {}): RunPlan => ({
  version: { deploymentId: 'd_1', version: 1 },
  timeoutSeconds: 30,
  autoRetry: null,
  steps,
  ...changed,
});

export const origin: RunOrigin = {
  id: 'run_1',
  workflowId: 'p_1',
  ownerId: 'o_1',
  trigger: { type: 'http', id: 'hi_1', name: 'http' },
  sourceType: 'HTTP',
  test: false,
  verified: false,
  replayOf: null,
  replayFrom: null,
  replayedBy: null,
  keyRun: 'run_1',
  traceId: 'run_1',
  hops: 0,
  arrivedAt: 1_000,
  hasCaller: true,
};

export const result = (changed: Partial<StepResult> = {}): StepResult => ({
  exports: { $return_value: '1' },
  props: '{}',
  logs: [],
  sends: [],
  reply: null,
  ...changed,
});

export const failure = (code: string) => ({ name: code, message: `it was ${code}`, stack: '', code });

export const arrive = (changed: Partial<InputOf<'arrive'>> = {}): RunInput => ({
  type: 'arrive',
  now: 1_000,
  origin,
  place: 1,
  event: '{"a":1}',
  reused: [],
  notrigger: false,
  ...changed,
});

export const start = (now: number): RunInput => ({ type: 'start', now });

export const succeed = (
  now: number,
  execution: number,
  flow: StepFlow | null = null,
  returned: Partial<StepResult> = {},
): RunInput => ({
  type: 'outcome',
  now,
  execution,
  mayWait: true,
  outcome: { kind: 'succeeded', result: result(returned), flow },
});

/** The list of a `for_each`, with as many items as numbers. */
export const listed = (now: number, execution: number, count: number): RunInput => ({
  type: 'outcome',
  now,
  execution,
  mayWait: true,
  outcome: { kind: 'listed', list: JSON.stringify(Array.from({ length: count }, (_, index) => index)), count },
});

export const fail = (now: number, execution: number, code: string, returned: Partial<StepResult> = {}): RunInput => ({
  type: 'outcome',
  now,
  execution,
  mayWait: true,
  outcome: { kind: 'failed', result: result(returned), error: failure(code) },
});

export const resume = (now: number, execution: number | null, data = '{"body":1}'): RunInput => ({
  type: 'resume',
  now,
  execution,
  data,
  by: null,
});

export const cancel = (now: number, execution: number | null = null): RunInput => ({
  type: 'cancel',
  now,
  execution,
  reason: execution === null ? 'api' : 'cancel_url',
  by: null,
});

/** The fact without what specs of order do not ask about. */
export const shortFact = (fact: RunFact): string => {
  switch (fact.type) {
    case 'StepStarted': {
      const { namespace, runs, attempt } = fact.data;
      return `StepStarted ${namespace} ${runs}.${attempt}`;
    }
    case 'StepSkipped':
      return `StepSkipped ${fact.data.namespace} ${fact.data.reason}`;
    case 'StepFailed':
      return `StepFailed ${fact.data.error.code}${fact.data.retryAt === null ? '' : ' for now'}`;
    case 'WaitBegun':
      return `WaitBegun ${fact.data.kind} until ${fact.data.resumeAt}`;
    case 'RunFailed':
      return `RunFailed ${fact.data.error.code}`;
    case 'RunCancelled':
      return `RunCancelled ${fact.data.reason}`;
    case 'ItemStarted':
      return `ItemStarted ${fact.data.index}.${fact.data.attempt}`;
    case 'ItemFailed':
      return `ItemFailed ${fact.data.error.code}${fact.data.retryAt === null ? '' : ' for now'}`;
    case 'ItemsListed':
    case 'ItemSucceeded':
    case 'RunArrived':
    case 'RunStarted':
    case 'StretchBegun':
    case 'StepInterrupted':
    case 'StepSucceeded':
    case 'ResumeKept':
    case 'WaitEnded':
    case 'RunSucceeded':
    case 'RunExited':
      return fact.type;
  }
};

/** Facts that these inputs leave, one after the other. */
export const factsOf = (plan: RunPlan, ...inputs: RunInput[]): RunFact[] => {
  const decider = runDecider(plan);
  return inputs.reduce<RunFact[]>((facts, input) => [...facts, ...decider.decide(input, fold(decider, facts))], []);
};

export const stateOf = (plan: RunPlan, ...inputs: RunInput[]): RunState =>
  fold(runDecider(plan), factsOf(plan, ...inputs));

/** What the last input leads to, in short. */
export const last = (plan: RunPlan, ...inputs: RunInput[]): string[] =>
  factsOf(plan, ...inputs)
    .slice(factsOf(plan, ...inputs.slice(0, -1)).length)
    .map(shortFact);
