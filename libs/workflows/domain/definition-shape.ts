import { type Field, choice, flag, integer, list, map, object, type ObjectShape, type Shape, text } from './shape.js';

export const SCHEMAS = ['workflow/2022.04', 'sluice.workflow/1'] as const;
/** UTF-8 bytes of a definition as JSON, without `files`. */
export const MAX_DEFINITION_BYTES = 512 * 1024;
export const MAX_LEVELS = 64;
export const MAX_STEPS = 100;
export const MAX_FILES = 200;
/** Bytes of all files together. */
export const MAX_FILES_BYTES = 5 * 1024 * 1024;

const CODE_CHARS = 1024 * 1024;
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const NAMESPACE = /^[A-Za-z_$][A-Za-z0-9_$]{0,63}$/;
const RESERVED = ['trigger', '__proto__', 'constructor', 'prototype'];
const VISIBLE_ASCII = /^[\x21-\x7e]{8,512}$/;
/** Anything else could end the header and begin another. */
const HEADER_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;

const either = (...of: readonly Shape[]): Shape => ({ kind: 'either', of });
const field = (shape: Shape, about: string, more: Omit<Field, 'shape' | 'about'> = {}): Field => ({
  shape,
  about,
  ...more,
});
const alsoOn: Field = field(list(choice('Timeout', 'OutOfMemory'), 2), 'Further errors that are retried');
const props = field(map(1_000, 1_024), 'Values of the props');

const settings = object({
  active: field(flag, 'Whether the triggers start runs', { default: true }),
  error_notification: field(flag, 'Whether errors are mailed', { default: true }),
  timeout_seconds: field(integer(1, 900), 'Time of a run between two waits; 30, or 60 for runs of a timer'),
  memory_mb: field(integer(64, 10_240), 'Heap of a process, in MB', { default: 256 }),
  concurrency: field(integer(1, 10_000), 'Runs that execute at once', { nullable: true }),
  hold_slot: field(flag, 'Whether waiting runs count in `concurrency`', { default: false }),
  throttle: field(
    object({
      limit: field(integer(0, 10_000), 'Runs within the interval; 0 pauses the workflow', { required: true }),
      interval: field(integer(1, 10_000), 'Length of the interval, in units', { required: true }),
      unit: field(choice('second', 'minute', 'hour'), 'Unit of the interval', { required: true }),
    }),
    'Runs that begin within a time',
    { nullable: true },
  ),
  queue_size: field(integer(1, 10_000), 'Runs that wait to begin', { default: 100 }),
  auto_retry: field(
    either(flag, object({ notify_first_error: field(flag, 'Whether the first error is told'), also_on: alsoOn })),
    'Whether steps that fail are run again',
    { default: false },
  ),
  data_retention: field(
    either(
      choice('none'),
      object({ runs: field(integer(1, 1_000_000), 'Ended runs'), days: field(integer(1, 3_650), 'Days') }),
    ),
    'What is kept of ended runs',
  ),
  public_sse: field(flag, 'Whether streams can be read without a key', { default: false }),
});

const triggerName = field(text(64, { min: 1, pattern: NAME }), 'Unique; the type by default, then `http_2`, `http_3`');
const eventName = field(text(255), 'Channel of the events; the default channel when absent');
const sourceFields = {
  name: triggerName,
  id: field(text(200), 'Id of a source'),
  uses: field(text(8_192, { min: 1 }), 'Component of a source that the workflow owns'),
  props,
  event_name: eventName,
};

const triggers: Shape = {
  kind: 'tagged',
  untyped: object(sourceFields),
  of: {
    http: object({
      type: field(choice('http'), 'A request'),
      name: triggerName,
      response: field(choice('default', 'custom', 'static'), 'What the caller gets', { default: 'default' }),
      static_response: field(
        object({
          status: field(integer(100, 599), 'Status', { default: 200 }),
          headers: field(map(100, 256, text(8_192, { pattern: HEADER_TEXT })), 'Headers'),
          body: field(text(256 * 1024), 'Body'),
        }),
        'Reply of every request, with `response: static`',
      ),
      auth: field(
        object({
          type: field(choice('none', 'bearer'), 'How callers identify themselves', { required: true }),
          token: field(
            text(512, { pattern: VISIBLE_ASCII }),
            '8 to 512 visible ASCII characters, or exactly `{{process.env.NAME}}`',
          ),
        }),
        'Who may call',
      ),
    }),
    timer: object({
      type: field(choice('timer'), 'A time'),
      name: triggerName,
      cron: field(text(256, { min: 1 }), 'Pattern of 5 or 6 fields', { nullable: true }),
      interval_seconds: field(integer(15, 31_622_400), 'Time between two runs', { nullable: true }),
      timezone: field(text(64, { min: 1 }), 'IANA name of the time zone of `cron`', { default: 'UTC', nullable: true }),
      overlap: field(choice('allow', 'skip'), 'Whether a run begins while another has not ended', { default: 'allow' }),
    }),
    source: object({ type: field(choice('source'), 'Emits of a source'), ...sourceFields }),
    event: object({
      type: field(choice('event'), 'Events of an emitter'),
      name: triggerName,
      emitter: field(text(200, { min: 1 }), '`emitter_id` of a subscription', { required: true }),
      event_name: eventName,
      filter: field(map(50, 1_024), 'Filter of a subscription'),
    }),
    manual: object({ type: field(choice('manual'), 'A call of the API'), name: triggerName }),
    workflow: object({ type: field(choice('workflow'), 'Another workflow'), name: triggerName }),
    tool: object({
      type: field(choice('tool'), 'A call by an agent'),
      name: field(
        text(64, { min: 1, pattern: NAME }),
        'Unique; also the name of the tool, else made of that of the workflow',
      ),
      description: field(text(1_024, { min: 1 }), 'What the tool does, for the model', { required: true }),
      input: field(map(100, 256), 'JSON Schema of the arguments, of type object; any arguments when absent'),
      annotations: field(
        object({
          title: field(text(255), 'Title of the tool'),
          readOnlyHint: field(flag, 'Whether the tool changes nothing'),
          destructiveHint: field(flag, 'Whether it may destroy something'),
          idempotentHint: field(flag, 'Whether a repeat changes nothing more'),
          openWorldHint: field(flag, 'Whether it reaches other systems'),
        }),
        'Hints for clients',
      ),
    }),
    email: 'a workflow cannot be triggered by mail: use a source that receives mail',
  },
};

const steps = object({
  namespace: field(text(64, { min: 1, pattern: NAMESPACE, not: RESERVED }), 'Unique name of the step', {
    required: true,
  }),
  name: field(text(255), 'Label', { nullable: true }),
  runtime: field(text(64), 'Begins with `nodejs`; has no effect', { nullable: true }),
  uses: field(text(8_192, { min: 1 }), 'Action of the step, or `./path` of its code in `files`'),
  code: field(text(CODE_CHARS, { min: 1 }), 'Code of the step'),
  props,
  disabled: field(flag, 'Whether runs skip the step', { default: false }),
  if: field(text(CODE_CHARS, { min: 1 }), 'Expression; the step is skipped when it is falsy'),
  for_each: field(text(CODE_CHARS, { min: 1 }), 'Expression for a list; the step runs once for each item'),
  concurrency: field(integer(1, 100), 'Items of `for_each` at once', { default: 1 }),
  retry: field(
    object({
      max_retries: field(integer(0, 20), 'Further executions after the first', { required: true }),
      delay_seconds: field(integer(1, 86_400), 'Time before the first retry', { default: 10 }),
      backoff: field(choice('exponential', 'fixed'), 'How the delay grows', { default: 'exponential' }),
      also_on: alsoOn,
    }),
    'When the step is run again; from `auto_retry` when absent',
  ),
  timeout_seconds: field(integer(1, 900), 'Time of one execution'),
  on_error: field(text(64, { min: 1 }), '`stop`, `continue`, or the namespace of a later step', { default: 'stop' }),
});

/** The only description of a definition. */
export const DEFINITION: ObjectShape = object({
  schema: field(choice(...SCHEMAS), 'Form of the definition', { default: SCHEMAS[0] }),
  name: field(text(255, { min: 1 }), 'Name of the workflow; the external id when absent'),
  description: field(text(4_096), 'What the workflow does', { nullable: true }),
  external_id: field(text(200, { min: 1, pattern: /^[A-Za-z0-9._/-]{1,200}$/ }), 'Unique in the workspace', {
    nullable: true,
  }),
  settings: field(settings, 'How runs execute'),
  triggers: field(list(triggers, 20), 'What starts runs'),
  steps: field(list(steps, MAX_STEPS), 'What a run does, in order'),
  files: field(map(MAX_FILES, 512, text(CODE_CHARS)), 'Code by path, for `uses: ./path`'),
});

/** A definition with what a request may hold beside it. */
export const DEFINITION_AND_BESIDE: ObjectShape = object({
  ...DEFINITION.fields,
  strict: field(flag, 'Whether warnings are errors'),
  active: field(flag, 'As in `settings`'),
  refresh: field(flag, 'Whether pinned components are looked for anew'),
  cancel_runs: field(flag, 'With `active: false` in a change: whether every unfinished run is cancelled'),
  ignore_hook_errors: field(
    flag,
    'In a change: whether a failing deactivate hook of a source does not keep the change',
  ),
  managed_by: field(text(255), 'The program that keeps the workflow', { nullable: true }),
  draft: field(flag, 'Whether to save a draft instead of a deployment'),
  workspace_id: field(text(200), 'The workspace of the request'),
  org_id: field(text(200), 'The workspace of the request'),
});
