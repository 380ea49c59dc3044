import { type UserError, causesOf } from '#libs/component-model/run-output.js';
import { ERRORS_CHANNEL, SSE_CHANNEL } from '#libs/component-model/channels.js';
import { emitIds } from '#libs/stream-log/emit-ids.js';
import { type EmitHeaders } from '#libs/stream-log/envelopes.js';
import { type EventIds } from '#libs/stream-log/event-ids.js';
import { faultId } from '#libs/stream-log/fault-ids.js';
import { startedInvocation } from '#libs/stream-log/invocations.js';
import { RECORD_BYTES, bytesAbove } from '#libs/stream-log/record-limits.js';
import { messageRecord } from '#libs/stream-log/message-records.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { runChangeOf } from '#libs/workflow-runs/run-change.js';
import { type RunFact } from '#libs/workflow-runs/run-facts.js';
import { type RunPlan } from '#libs/workflow-runs/run-plan.js';
import { PARTS, type RunState, originOf } from '#libs/workflow-runs/run-state.js';
import { type RunDraft } from './run-book.js';
import { type RunContext } from './run-context.js';

/** What one commit did to one run. */
export interface ChangedRun {
  readonly run: string;
  /** Version in the journal after the commit. */
  readonly version: number;
  readonly before: RunState;
  readonly after: RunState;
  readonly facts: readonly RunFact[];
  readonly emits: RunDraft['emits'];
  readonly messages: RunDraft['messages'];
  readonly starts: RunDraft['starts'];
}

export interface RecordsContext {
  readonly topics: TopicPolicy;
  readonly eventIds: EventIds;
  readonly plan: RunPlan;
  readonly context: RunContext;
  readonly now: number;
  /** Whether ended runs of the workflow are kept, unless their caller asked otherwise. */
  readonly keepsRuns: boolean;
}

/** Records of one commit of a run: its change for the history, what its steps send, and its errors for `$errors`. */
export const recordsOf = (changed: ChangedRun, context: RecordsContext): readonly LogRecord[] => [
  changeRecord(changed, context),
  ...changed.emits.map((emit) => emitRecord(changed, emit, context)),
  ...messagesOf(changed, context.topics),
  ...changed.starts.map((start) => startRecord(changed, start, context)),
  ...errorsOf(changed).map((error) => errorRecord(changed, error, context)),
];

/** Marks what is delivered and not listed, as of a run whose source does not store. */
const nostoreOf = ({ after }: ChangedRun, { keepsRuns }: RecordsContext): Pick<EmitHeaders, 'nostore'> =>
  keepsRuns && originOf(after).nostore !== true ? {} : { nostore: '1' };

const changeRecord = (changed: ChangedRun, context: RecordsContext): LogRecord => {
  const { run, version, before, after } = changed;
  const { topics } = context;
  const { workflowId, ownerId } = originOf(after);
  const { nostore } = nostoreOf(changed, context);
  const of = { runId: run, workflowId, workspaceId: ownerId, version };
  const change = runChangeOf({ ...of, ...(nostore ? { nostore: true } : {}) }, before, after);
  return { topic: topics.runs(workflowId), key: workflowId, headers: {}, value: JSON.stringify(change) };
};

const messagesOf = ({ run: runId, after, messages }: ChangedRun, topics: TopicPolicy): readonly LogRecord[] => {
  const { workflowId, ownerId: workspaceId } = originOf(after);
  return messages.flatMap(({ message, ...place }) =>
    messageRecord(topics, { ...place, workflowId, workspaceId, runId }, message),
  );
};

/** A test is listed, and reaches no listener. */
const emitRecord = (
  changed: ChangedRun,
  { execution, index, send }: RunDraft['emits'][number],
  context: RecordsContext,
): LogRecord => {
  const { run, after } = changed;
  const { topics, eventIds, now } = context;
  const { workflowId, ownerId, arrivedAt, hops, test } = originOf(after);
  const headers: EmitHeaders = {
    kind: 'emit',
    id: eventIds.next(now),
    emitter: workflowId,
    workspace: ownerId,
    channel: send.kind === 'sse' ? SSE_CHANNEL : '',
    emit: emitIds(`${run}/${execution}`, arrivedAt)(index),
    hops: String(hops),
    ...nostoreOf(changed, context),
    ...(test ? { test: '1' } : {}),
    ...(test || send.kind === 'sse' ? { notrigger: '1' } : {}),
  };
  const value = send.kind === 'sse' ? messageValue(send) : send.event;
  return { topic: topics.emits(workflowId), key: workflowId, headers, value };
};

/** Made of the JSON text of the payload, which may be large. */
const messageValue = ({ channel, payload }: { readonly channel: string; readonly payload: string }): string =>
  `{"channel":${JSON.stringify(channel)},"payload":${payload}}`;

const startRecord = (
  { run, after }: ChangedRun,
  { execution, index, workflowId, event }: RunDraft['starts'][number],
  { topics, now }: RecordsContext,
): LogRecord => {
  const { workflowId: caller, ownerId: workspaceId, traceId: trace, hops } = originOf(after);
  const call = { caller, trace, workflowId, workspaceId, now, hops: hops + 1, event };
  return startedInvocation(topics, { run, execution, index }, call);
};

interface Failure {
  readonly namespace: string | null;
  readonly error: UserError;
  readonly at: number;
  /** Number of the execution, so that each failure has an emit id of its own. */
  readonly execution: number;
}

/** Unhandled failures of a live run (docs/reference/workflows.md#run-errors). */
const errorsOf = ({ facts, after }: ChangedRun): readonly Failure[] => {
  if (originOf(after).test) return [];
  const { executions, position } = after.head;
  return facts.flatMap((fact): readonly Failure[] => {
    if (fact.type === 'RunFailed') return [{ ...fact.data, execution: executions }];
    if ((fact.type !== 'StepFailed' && fact.type !== 'ItemFailed') || !fact.data.notifies) return [];
    const { at, error } = fact.data;
    const execution = fact.type === 'ItemFailed' ? fact.data.execution : executions;
    return [{ at, error, namespace: position?.namespace ?? null, execution }];
  });
};

const errorRecord = (
  changed: ChangedRun,
  { namespace, error, at, execution }: Failure,
  recorded: RecordsContext,
): LogRecord => {
  const { run, after } = changed;
  const { topics, eventIds, plan, context, now } = recorded;
  const { workflowId, ownerId, arrivedAt, hops } = originOf(after);
  const { name, message, code, stack } = error;
  const headers: EmitHeaders = {
    kind: 'emit',
    id: eventIds.next(now),
    emitter: workflowId,
    workspace: ownerId,
    channel: ERRORS_CHANNEL,
    emit: emitIds(`${run}/errors`, arrivedAt)(execution),
    hops: String(hops),
    fault: faultId(name, message),
    ...nostoreOf(changed, recorded),
  };
  const cellId = plan.steps.find((step) => step.namespace === namespace)?.id ?? null;
  const detail = { code, name, message, stack, ts: new Date(at).toISOString(), cellId, namespace, ...causesOf(error) };
  const rest = `"original_context":${JSON.stringify(context)},"error":${JSON.stringify(detail)}}`;
  const event = after.parts[PARTS.event] ?? 'null';
  const whole = `{"original_event":${event},${rest}`;
  const value =
    bytesAbove(whole, RECORD_BYTES) === undefined
      ? whole
      : `{"original_event":null,"original_event_bytes":${Buffer.byteLength(event)},${rest}`;
  return { topic: topics.emits(workflowId), key: workflowId, headers, value };
};
