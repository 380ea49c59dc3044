import { type Shown } from './shown-elsewhere.js';

/** A member of workflows, as the hosted service documents it or not. */
export interface WorkflowMember {
  /** Markdown. */
  readonly name: string;
  /** Anchor of a rule of workflows. Empty for the whole page. */
  readonly rule: string;
  /** `same`, `added` (the hosted service does not document it), or what differs. */
  readonly compared: string;
  readonly test: Shown;
}

const [same, added] = ['same', 'added'];
const RUNS = 'test/e2e/workflow-runs.e2e-spec.ts';
const URLS = 'test/e2e/workflow-urls.e2e-spec.ts';
const VALUES = 'test/e2e/workflow-values.e2e-spec.ts';
const VALID = 'test/e2e/workflows.e2e-spec.ts';
const ORDER = 'test/e2e/workflow-order.e2e-spec.ts';
const CHANGES = 'test/e2e/workflow-changes.e2e-spec.ts';
const SENDS = 'test/e2e/workflow-sends.e2e-spec.ts';
const TRIGGERS = 'test/e2e/workflow-subscriptions.e2e-spec.ts';

const of = (name: string, rule: string, compared: string | undefined, ...test: Shown): WorkflowMember => ({
  name,
  rule,
  compared: compared ?? '',
  test,
});

const DEFINITION: readonly WorkflowMember[] = [
  of('`workflow/2022.04` files', 'import-rule', same, VALID, 'loads a public file unchanged'),
  of(
    'references into the hosted service',
    'import-rule',
    'a warning; the file is loaded',
    CHANGES,
    '3: is imported with warnings',
  ),
  of('`sluice.workflow/1`', 'import-rule', added, CHANGES, '3: is imported with warnings'),
  of('`external_id`, `managed_by`, `description`', 'external-id', added, CHANGES, '13: is found by its external id'),
  of('`files`', 'files', added, CHANGES, '3: is imported with warnings'),
  of(
    '`settings.error_notification`',
    'run-error-emails',
    same,
    'test/e2e/workflow-emails.e2e-spec.ts',
    'are not mailed with error_notification: false',
  ),
  of(
    '`settings.timeout_seconds`',
    'settings',
    same,
    'test/e2e/workflow-draft-runs.e2e-spec.ts',
    'with its own time limit and props',
  ),
  of(
    '`settings.memory_mb`',
    'memory',
    'at most 1,024 MB, or as the operator allows',
    'test/e2e/workflow-memory.e2e-spec.ts',
    'is the heap of its code steps and actions',
  ),
  of(
    '`settings.concurrency`',
    'run-order',
    'for every trigger, and not for sources alone',
    ORDER,
    '48: starts the runs in the order',
  ),
  of('`settings.hold_slot`', 'run-order', added, ORDER, '49: goes on while a run waits'),
  of(
    '`settings.throttle`',
    'run-order',
    'for every trigger, and not for sources alone',
    ORDER,
    '50: starts as many in a time',
  ),
  of(
    '`settings.queue_size`, `EventQueueFull`',
    'run-order',
    'the event beyond it is a failed run, which can be replayed',
    RUNS,
    '47: is refused when the queue is full',
  ),
  of('`settings.auto_retry`', 'attempt', same, ORDER, '35: waits for its next attempt'),
  of(
    '`settings.active`, `settings.data_retention`',
    'retention',
    added,
    'test/e2e/workflow-retention.e2e-spec.ts',
    '71: can be read until it ends',
  ),
  of(
    '`settings.public_sse`',
    'send-sse',
    same,
    'test/e2e/workflow-streams.e2e-spec.ts',
    'needs no key while public_sse is true',
  ),
  of('trigger `http`', 'trigger-http', same, RUNS, '21: gets an answer at once'),
  of('`auth` of `http`', 'trigger-token', added, RUNS, '20: needs the bearer token'),
  of('trigger `timer`', 'trigger-timer', same, 'test/e2e/workflow-timers.e2e-spec.ts', '75: runs at its first time'),
  of(
    '`overlap` of `timer`',
    'trigger-timer',
    added,
    'libs/runner/workflow/workflow-timers.spec.ts',
    'begins no run of a timer while another of it goes on',
  ),
  of(
    'trigger `source`',
    'trigger-owned-source',
    same,
    'test/e2e/workflow-sources.e2e-spec.ts',
    '73: starts runs by its events',
  ),
  of('triggers `event`, `manual`, `workflow`', 'trigger-event', added, TRIGGERS, '74: starts a run for each event'),
  of('trigger `tool`', 'trigger-tool', added, 'test/e2e/mcp.e2e-spec.ts', '76: are the workflows with a tool trigger'),
  of('trigger `email`', 'triggers', 'not here', VALID, '9: an email trigger'),
  of('`namespace`, `uses`, `props`, `disabled`', 'steps', same, RUNS, '31: skips steps'),
  of('`runtime`', 'steps', 'Node.js alone', VALID, '9: another language'),
  of('`code`, `if`', 'steps', added, RUNS, '31: skips steps'),
  of('`for_each`', 'loops', added, 'test/e2e/workflow-loops.e2e-spec.ts', '53: runs once for each item'),
  of('`retry`, `timeout_seconds` of a step', 'steps', added, RUNS, '34, 36: tries a step again'),
  of('`on_error`', 'steps', added, RUNS, '32, 33: goes on after an error'),
  of(
    '`{{ … }}`',
    'expressions',
    'one expression; no `require`, network or promise',
    VALUES,
    '55: have the values of their expressions',
  ),
  of(
    'versions, rollback',
    'rollback',
    'every deployment is kept, and comes back with its components',
    'test/e2e/workflow-rollback.e2e-spec.ts',
    '17: deploys a former version again',
  ),
  of('draft, tests', 'drafts', same, 'test/e2e/workflow-draft-runs.e2e-spec.ts', '16: runs the draft'),
];

const CODE: readonly WorkflowMember[] = [
  of('`run({ $, steps })`', 'step-code', same, RUNS, '28: passes what a step exports'),
  of(
    '`event` of `run`',
    'step-code',
    added,
    'test/e2e/workflow-triggers.e2e-spec.ts',
    '62: starts a run of another workflow',
  ),
  of(
    '`process.env`',
    'step-process',
    'variables of the workspace, in code steps alone',
    VALUES,
    '64: is in a code step alone',
  ),
  of(
    '`/tmp`',
    'step-process',
    'one folder for the code steps of a workflow; an action has its own',
    'libs/sandbox/host/shared-calls.int-spec.ts',
    'share a process and its files',
  ),
  of('`$.service.db` of a step', 'step-db', added, 'test/e2e/workflow-state.e2e-spec.ts', 'keeps what each step sets'),
  of('`$.export(name, value)`', 'step-exports', same, RUNS, '30: ends when a step says so'),
  of('returned value, `$return_value`', 'step-return', same, RUNS, '28: passes what a step exports'),
  of('`$.respond`', 'step-respond', same, RUNS, '23: what $.respond gave'),
  of('`immediate` of `$.respond`', 'step-respond', same, RUNS, '25: gets an immediate response'),
  of('`$.flow.exit`', 'step-flow', same, RUNS, '30: ends when a step says so'),
  of('`$.flow.delay`', 'step-flow', 'survives restarts', RUNS, '38: waits as long as a step says'),
  of('`$.flow.suspend`, `$resume_data`', 'step-flow', same, URLS, '39: resume it with the request, once'),
  of('`$.flow.rerun`, `$.context.run`', 'step-flow', same, RUNS, '42: runs a step again'),
  of(
    '`$.flow.trigger`',
    'flow-trigger',
    'also by `ext:`; starts with the outcome of the step',
    'test/e2e/workflow-triggers.e2e-spec.ts',
    '62: starts a run of another workflow',
  ),
  of(
    '`$.flow.refreshTimeout`',
    'step-flow',
    'returns the new deadline',
    'libs/sandbox/host/step-run.int-spec.ts',
    'ends at its time, unless it asks for more',
  ),
  of('`resume_url`, `cancel_url`', 'run-urls', same, URLS, '41: cancel it by GET'),
  of('`confirm_url`', 'run-urls', added, URLS, '40: do nothing by HEAD'),
  of('`$attempt`', 'attempt', same, URLS, 'stand in $attempt of a retry'),
  of('`$error`, `$items`', 'loop-outcome', added, RUNS, '32, 33: goes on after an error'),
  of(
    '`$.send.http`',
    'step-send',
    '`retry: true` and `x-pd-send-id` are added',
    SENDS,
    '59: http goes out while the run waits',
  ),
  of('`$.send.email`', 'send-email', 'at most 100 a day', SENDS, 'email goes to the creator'),
  of('`$.send.emit`', 'subscribed', same, TRIGGERS, '60: shows what it emits under raw_event'),
  of(
    '`$.send.s3`',
    'send-s3',
    'a bucket that the operator opens',
    'test/e2e/workflow-objects.e2e-spec.ts',
    'writes the payload to an object',
  ),
  of('`$.send.sse`', 'send-sse', same, 'test/e2e/workflow-streams.e2e-spec.ts', '61: has what its steps send'),
  of(
    'time of messages',
    'step-send',
    'after each step, and not after the run',
    SENDS,
    '59: http goes out while the run waits',
  ),
  of('`$.files`', 'step-code', 'not here', VALUES, '63: has each key'),
  of(
    '`$.context`',
    'context',
    '`idempotency_key` is added; `project_id`, `pipeline_id` and the external user are null',
    VALUES,
    '63: has each key',
  ),
];

const RUNNING: readonly WorkflowMember[] = [
  of('replies to HTTP callers, and their texts', 'http-replies', same, RUNS, '24: 400 without $.respond'),
  of('`x-pd-notrigger`, `x-pd-nostore`', 'http-replies', same, RUNS, '27: leaves a test run'),
  of('`x-sluice-run-id`', 'http-replies', added, RUNS, '21: gets an answer at once'),
  of('`response: static`', 'http-replies', same, RUNS, '22: gets the static response'),
  of(
    'events on `$errors`',
    'run-errors',
    same,
    'test/e2e/workflow-emails.e2e-spec.ts',
    '72: are summaries and deliveries each',
  ),
  of(
    'mails about errors',
    'run-error-emails',
    'at most 20 a day of one workflow',
    'test/e2e/workflow-emails.e2e-spec.ts',
    '72: are summaries and deliveries each',
  ),
  of(
    'payload of a run',
    'step-limits',
    '6 MB as they are, and not compressed',
    'test/attacks/workflows.e2e-spec.ts',
    '57: exports 7 MB',
  ),
  of('`PUT /v1/workflows/{id}` with `active`', 'update', same, CHANGES, '14: is switched off and on'),
  of('all other routes of workflows and runs', '', added, CHANGES, '1: is created and deployed'),
  of(
    'runs over a crash',
    'run-durable',
    'go on at their step, under the same idempotency key',
    RUNS,
    '45, 46: goes on where it was',
  ),
  of(
    'replay',
    'run-replay',
    'from any step, with another version or event, and in bulk',
    'test/e2e/workflow-replays.e2e-spec.ts',
    '67: from the failed step',
  ),
];

export const WORKFLOW_MEMBERS: Readonly<Record<string, readonly WorkflowMember[]>> = {
  'Workflows: definitions': DEFINITION,
  'Workflows: code of a step': CODE,
  'Workflows: runs': RUNNING,
};
