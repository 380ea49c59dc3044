import {
  anyJson,
  boolean,
  integer,
  listOf,
  milliseconds,
  named,
  nullable,
  object,
  oneOf,
  optional,
  record,
  text,
  type TypeOf,
} from '#libs/http/reply-schema.js';
import { type HttpReply } from '#libs/component-model/run-output.js';
import { truncateEvent } from '#libs/http/truncate-event.js';
import { runRecord, stepRecords } from '#libs/workflow-runs/run-record.js';
import { type NamedSteps } from '#libs/workflow-runs/run-plan.js';
import { PARTS } from '#libs/workflow-runs/run-state.js';
import { RUN_STATES } from './list-runs/run-filter.js';
import { type ListedRun } from './run-history.js';

/** Bytes of JSON above which a value is shortened. */
export const SHORT_BYTES = 1_024;

const STEP_STATES = ['pending', 'running', 'waiting', 'succeeded', 'failed', 'skipped', 'cancelled'] as const;

const actor = (what: string) =>
  nullable(object({ user_id: text('User'), api_key_id: nullable(text('Null without a key')) }, what));
const TRUNCATED = optional(oneOf([true], 'Only when a value is shortened'));
const moment = (what: string) => nullable(milliseconds(what));

const RESPONSE = { status: integer('HTTP status'), sent_at_ms: moment('When it was sent') };

/** Fields as in docs/reference/workflows.md#run-record. */
const RUN = {
  id: text('`run_…`'),
  workflow_id: text('Workflow'),
  workflow_name: text('Its name now'),
  deployment_id: nullable(text('Null before the first start, and for a draft')),
  version: nullable(integer('Null before the first start, and for a draft')),
  owner_id: text('Workspace'),
  state: oneOf(RUN_STATES, 'The last four never change'),
  trigger: object(
    { type: text('Such as `http`'), id: nullable(text('Id of the trigger or emitter')), name: nullable(text('Name')) },
    'What began the run',
  ),
  test: boolean('Whether it is a test'),
  replay_of: nullable(text('Run that it replays')),
  replay_from: nullable(text('Step at which the replay began')),
  trace_id: text('Id of the first run of a chain'),
  hops: integer('Listeners that the cause has passed'),
  created_at_ms: milliseconds('Arrival'),
  started_at_ms: moment('First start'),
  ended_at_ms: moment('End'),
  duration_ms: integer('Time executing'),
  waiting: nullable(
    object(
      {
        kind: oneOf(['delay', 'suspend', 'rerun', 'retry'], 'What it waits after'),
        namespace: nullable(text('Step')),
        since_ms: milliseconds('Begin of the wait'),
        resume_at_ms: milliseconds('End of the wait'),
      },
      'While it waits',
    ),
  ),
  error: nullable(record('Of a failed run')),
  exit_reason: nullable(text('Of `$.flow.exit`')),
  cancel_reason: nullable(
    oneOf(['api', 'cancel_url', 'suspend_timeout', 'deactivated', 'superseded'], 'What cancelled it'),
  ),
  response: nullable(object(RESPONSE, 'What its caller got')),
  cancelled_by: actor('Who cancelled it'),
  resumed_by: actor('Who ended its last wait'),
  replayed_by: actor('Who replayed it'),
};

export const ListedRunReply = named('WorkflowRun', { ...RUN, truncated: TRUNCATED });
export type ListedRunRecord = TypeOf<typeof ListedRunReply>;

/** Fields as in docs/reference/workflows.md#run-sends. */
const SEND = object(
  {
    id: text('`snd_…`'),
    kind: oneOf(['http', 'email', 's3', 'emit', 'sse'], 'Member of `$.send`'),
    state: oneOf(['queued', 'sent', 'failed'], '`queued` until it has been sent or given up'),
    attempts: integer('Attempts so far'),
    status: nullable(integer('Status of the last answer')),
    error: nullable(text('What was wrong with the last attempt')),
  },
  'An outgoing message',
);

/** Fields as in docs/reference/workflows.md#step-items. */
const ITEM = object(
  {
    index: integer('From 0'),
    state: oneOf(['pending', 'running', 'waiting', 'succeeded', 'failed'], 'State of the item'),
    attempts: integer('Attempts so far'),
    error: nullable(record('Of the last attempt, when it failed')),
  },
  'An item',
);

/** Fields as in docs/reference/workflows.md#step-record. */
export const RunStepReply = named('WorkflowRunStep', {
  namespace: text('Name of the step'),
  id: text('`c_…`'),
  state: oneOf(STEP_STATES, 'State of the step'),
  skip_reason: nullable(oneOf(['disabled', 'if', 'handler', 'on_error', 'exit'], 'Why it was skipped')),
  reused: boolean('Whether a replay took it over'),
  started_at_ms: moment('First start'),
  ended_at_ms: moment('Last end'),
  duration_ms: integer('Time executing'),
  runs: integer('Executions by `$.flow.rerun`'),
  attempts: integer('Attempts of the last execution'),
  props: anyJson('As evaluated; secrets are masked'),
  exports: anyJson('With `$return_value`'),
  logs: anyJson('Lines `{k, ts, msg}`'),
  error: nullable(record('Of a failed step')),
  items: optional(listOf(ITEM, 'Items of `for_each`, in order')),
  sends: listOf(SEND, 'Outgoing messages of the last execution'),
  truncated: TRUNCATED,
});
export type RunStepRecord = TypeOf<typeof RunStepReply>;

export const WholeRunReply = named('WholeWorkflowRun', {
  ...RUN,
  event: anyJson('Of the trigger'),
  steps: listOf(RunStepReply, 'All steps of the version, in order'),
  truncated: TRUNCATED,
});
export type WholeRunRecord = TypeOf<typeof WholeRunReply>;

/** A run whose caller waits for it. Values are whole. */
export const AnsweredRunReply = named('AnsweredWorkflowRun', {
  ...WholeRunReply.fields,
  response: nullable(
    object(
      {
        ...RESPONSE,
        headers: optional(record('Headers of the response')),
        body: optional(text('Its body, in base64 when `base64` is true')),
        base64: optional(boolean('Whether the body is in base64')),
      },
      'What `$.respond` gave',
    ),
  ),
});
export type AnsweredRunRecord = TypeOf<typeof AnsweredRunReply>;

/** Shortens values of one record, and remembers whether it did. */
class Shortening {
  truncated = false;

  constructor(private readonly expand: boolean) {}

  of<T>(value: T): T {
    if (this.expand) return value;
    const short = truncateEvent(value, SHORT_BYTES);
    this.truncated ||= short.truncated;
    // A value keeps its type when it is shortened.
    return short.value as T;
  }

  /** Shortens each field of an error, so that none is missing. */
  ofFields<T extends object>(error: T | null): T | null {
    return error && (Object.fromEntries(Object.entries(error).map(([name, value]) => [name, this.of(value)])) as T);
  }

  mark(): { readonly truncated?: true } {
    return this.truncated ? { truncated: true } : {};
  }
}

export interface Shown {
  readonly steps: NamedSteps;
  readonly workflowName: string;
}

/** The run as lists show it. */
export const listedRunRecord = (
  { state }: Pick<ListedRun, 'state'>,
  { steps, workflowName }: Shown,
): ListedRunRecord => {
  const short = new Shortening(false);
  const run = runRecord(steps, state, workflowName);
  return { ...run, error: short.ofFields(run.error), exit_reason: short.of(run.exit_reason), ...short.mark() };
};

/** @param expand leaves all values whole. */
export const wholeRunRecord = (
  { state }: Pick<ListedRun, 'state'>,
  { steps, workflowName }: Shown,
  expand: boolean,
): WholeRunRecord => {
  const short = new Shortening(expand);
  const run = runRecord(steps, state, workflowName);
  const event: unknown = JSON.parse(state.parts[PARTS.event] ?? 'null');
  return {
    ...run,
    error: short.ofFields(run.error),
    exit_reason: short.of(run.exit_reason),
    event: short.of(event),
    steps: stepRecords(steps, state).map((step) => stepRecord(step, expand)),
    ...short.mark(),
  };
};

/** The whole run, with the response that its steps gave. */
export const answeredRunRecord = (run: ListedRun, shown: Shown): AnsweredRunRecord => {
  const whole = wholeRunRecord(run, shown, true);
  const text = run.state.parts[PARTS.reply];
  if (!whole.response || text === undefined) return whole;
  const { headers, body, base64 } = JSON.parse(text) as HttpReply;
  return { ...whole, response: { ...whole.response, headers, body, base64 } };
};

export const stepRecord = (step: ReturnType<typeof stepRecords>[number], expand: boolean): RunStepRecord => {
  const short = new Shortening(expand);
  const { props, exports, logs, error, items, ...rest } = step;
  return {
    ...rest,
    props: short.of(props),
    exports: short.of(exports),
    logs: short.of(logs),
    error: short.ofFields(error),
    ...(items ? { items: items.map((item) => ({ ...item, error: short.ofFields(item.error) })) } : {}),
    ...short.mark(),
  };
};
