import { derivedId, newId } from '#libs/kernel/ids.js';
import { type DelayedEvent } from './delayed-events.js';
import {
  type EmitHeaders,
  eventParts,
  type InvocationHeaders,
  type InvocationKind,
  type RecordOf,
} from './envelopes.js';
import { emitIds, timeOfEmitId } from './emit-ids.js';
import { orderedEventId } from './event-ids.js';
import { type TopicPolicy } from './topics.js';

/** A record for `invocations.*`. */
export type Invocation = RecordOf<InvocationHeaders>;

interface Call {
  /** Source that the invocation is for. */
  readonly sourceId: string;
  readonly workspaceId: string;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly hops?: number;
  /** Interface prop that fired. */
  readonly prop?: string;
  /** Address of the process that awaits the outcome. Default: none does. */
  readonly respond?: string;
}

interface WithEvent {
  /** JSON text of the event that `run` receives. */
  readonly event: string;
}

/** A request to the endpoint of an interface prop. */
export const httpInvocation = (
  topics: TopicPolicy,
  call: Call & WithEvent & { readonly prop: string; readonly respond: string },
  parts: Pick<InvocationHeaders, 'body' | 'confined' | 'nostore'> = {},
): Invocation => invocation(topics, 'http', newId('inv', call.now), call, call.event, parts);

/** A request whose event only appears in lists, as a test of the source. */
export const testEventInvocation = (
  topics: TopicPolicy,
  call: Call & WithEvent,
  parts: Pick<InvocationHeaders, 'nostore'> = {},
): Invocation => {
  const id = newId('inv', call.now);
  const emit = emitIds(id, call.now)(0);
  const all = { emit, channel: '', test: '1', notrigger: '1', ...parts } as const;
  return invocation(topics, 'delayed', id, call, call.event, all);
};

/** A trigger of a workflow that ticks. */
export interface TickedTrigger {
  readonly id: string;
  readonly name: string;
  /** Whether a run begins only when no other of this trigger goes on. */
  readonly alone: boolean;
}

/** A tick of a timer with the scheduled time `dueAt`. A repeat of the tick has the same id. */
export const timerInvocation = (
  topics: TopicPolicy,
  call: Omit<Call, 'now'> & WithEvent & { readonly prop: string; readonly dueAt: number },
  trigger?: TickedTrigger,
): Invocation => {
  const id = derivedId('inv', call.sourceId, call.prop, String(call.dueAt));
  if (!trigger) return invocation(topics, 'timer', id, { ...call, now: call.dueAt }, call.event);
  const { id: triggerId, name, alone } = trigger;
  return invocation(topics, 'timer', id, { ...call, now: call.dueAt }, call.event, {
    trigger: JSON.stringify({ type: 'timer', id: triggerId, name }),
    ...(alone ? { alone: '1' } : {}),
  });
};

/** An event of an app. `prop` is the source's first apphook that accepts it. */
export const appHookInvocation = (
  topics: TopicPolicy,
  call: Call & WithEvent & { readonly prop: string },
): Invocation => invocation(topics, 'apphook', newId('inv', call.now), call, call.event);

/**
 * An emit that a subscription passes on to a source. Routing the emit again makes the same id and time.
 * @param replay the replay that passes it on again, as an invocation of its own.
 */
export const emitInvocation = (
  topics: TopicPolicy,
  { headers: emit, value }: { readonly headers: EmitHeaders; readonly value: string },
  {
    sourceId,
    subscriptionId,
    trigger,
    replay,
  }: {
    readonly sourceId: string;
    readonly subscriptionId: string;
    /** Trigger of the workflow that owns the subscription. */
    readonly trigger?: { readonly type: string; readonly name: string } | undefined;
    readonly replay?: { readonly id: string; readonly startedAt: number };
  },
): Invocation => {
  const passing = replay ? `${subscriptionId}/${replay.id}` : subscriptionId;
  const id = derivedId('inv', emit.emitter, emit.emit, passing);
  const now = replay?.startedAt ?? timeOf(emit);
  const call = { sourceId, workspaceId: emit.workspace, now, hops: Number(emit.hops) + 1 };
  const isOrdered = !replay && emit.emitter.startsWith('dc_') && orderedEventId(emit.id) !== undefined;
  return invocation(topics, 'emit', id, call, value, {
    emitter: emit.emitter,
    emit: emit.emit,
    ...(trigger ? { trigger: JSON.stringify({ type: trigger.type, id: emit.emitter, name: trigger.name }) } : {}),
    ...(replay ? { replay: replay.id } : {}),
    ...(isOrdered ? { subscription: subscriptionId, event: emit.id } : {}),
    ...(emit.nostore === undefined ? {} : { nostore: emit.nostore }),
  });
};

/** The time in the emit id, because a repeated run of the emitter uses the same emit id at another time. */
const timeOf = ({ emit, id }: EmitHeaders): number => timeOfEmitId(emit) ?? (parseInt(id, 10) || 0);

/** A delayed event that is due. A repeated release has the same id. */
export const delayedInvocation = (topics: TopicPolicy, event: DelayedEvent): Invocation => {
  const { sourceId, workspaceId, emitId, hops, channel } = event;
  const id = derivedId('inv', sourceId, emitId, 'delayed');
  const call = { sourceId, workspaceId, now: event.dueAt, hops };
  return invocation(topics, 'delayed', id, call, event.payload, { emit: emitId, channel, ...eventParts(event) });
};

/** A run that a user starts. Repeats of one request have the same `repeatId`, and the same id. */
export const manualInvocation = (
  topics: TopicPolicy,
  { repeatId, ...call }: Call & WithEvent & { readonly respond: string; readonly repeatId?: string | undefined },
  parts: Pick<InvocationHeaders, 'draft' | 'replays' | 'test' | 'trigger'> = {},
): Invocation => {
  const id = repeatId === undefined ? newId('inv', call.now) : repeatedId(call.sourceId, repeatId);
  return invocation(topics, 'manual', id, call, call.event, parts);
};

const repeatedId = (sourceId: string, repeatId: string): string => derivedId('inv', sourceId, repeatId);

/** A hook. `request` is the JSON text of a HookRequest. */
export const hookInvocation = (
  topics: TopicPolicy,
  call: Call & { readonly respond: string; readonly request: string },
): Invocation => invocation(topics, 'hook', newId('inv', call.now), call, call.request);

/** The end of the operation whose hooks ran. `end` is the JSON text of an OperationEnd. */
export const settledInvocation = (
  topics: TopicPolicy,
  { sourceId, now, end }: { readonly sourceId: string; readonly now: number; readonly end: string },
): Invocation => invocation(topics, 'settled', newId('inv', now), { sourceId, workspaceId: '', now }, end);

/** Id of the run of a workflow that an invocation starts. A repeat of the invocation starts the same. */
export const runIdOf = (invocationId: string): string => derivedId('run', invocationId);

/** Id of the run that a user's request, and every repeat of it, starts. */
export const repeatedRunId = (workflowId: string, repeatId: string): string =>
  runIdOf(repeatedId(workflowId, repeatId));

/** A request to the endpoint of a workflow's trigger. */
export const triggerInvocation = (
  topics: TopicPolicy,
  { workflowId, ...call }: Omit<Call, 'sourceId'> & WithEvent & { readonly workflowId: string },
  parts: Pick<InvocationHeaders, 'body' | 'confined' | 'nostore' | 'notrigger' | 'test' | 'trigger' | 'verified'>,
): Invocation =>
  invocation(topics, 'http', newId('inv', call.now), { ...call, sourceId: workflowId }, call.event, parts);

/** A workflow that a step of another run starts. */
interface StartByRun {
  readonly run: string;
  readonly execution: number;
  /** Counts the starts of this execution. */
  readonly index: number;
}

const startId = ({ run, execution, index }: StartByRun): string =>
  derivedId('inv', run, 'start', String(execution), String(index));

/** Id of the run that a step starts. A step that a crash repeats starts the same. */
export const runStartedBy = (start: StartByRun): string => runIdOf(startId(start));

export const startedInvocation = (
  topics: TopicPolicy,
  start: StartByRun,
  {
    caller,
    trace,
    workflowId,
    ...call
  }: Omit<Call, 'sourceId'> & WithEvent & Record<'caller' | 'trace' | 'workflowId', string>,
): Invocation => {
  const trigger = JSON.stringify({ type: 'workflow', id: caller, name: null });
  return invocation(topics, 'manual', startId(start), { ...call, sourceId: workflowId }, call.event, {
    trigger,
    trace,
  });
};

interface Steering {
  readonly workflowId: string;
  readonly workspaceId: string;
  readonly runId: string;
  /** Execution whose wait it ends. Absent: any. */
  readonly execution?: number;
  readonly now: number;
}

/** The wait of a run is over. It is published at that time, so it has no topic before. */
export const alarmInvocation = ({
  workflowId,
  workspaceId,
  runId,
  execution = 0,
  now,
}: Steering): Omit<Invocation, 'topic'> => {
  const id = derivedId('inv', runId, String(execution), String(now));
  const common = { id, kind: 'alarm', source: workflowId, workspace: workspaceId, at: String(now), hops: '0' } as const;
  const headers = { ...common, prop: '', respond: '', run: runId, execution: String(execution), due: String(now) };
  return { key: workflowId, headers, value: 'null' };
};

/** A user or a URL cancels or resumes a run. `value` is the JSON text of the data of a resume. */
export const steeringInvocation = (
  topics: TopicPolicy,
  call: Steering & {
    readonly kind: 'cancel' | 'resume';
    readonly respond: string;
    readonly value: string;
    readonly by?: object;
  },
): Invocation => {
  const { kind, workflowId, runId, execution, now, by, value, ...others } = call;
  return invocation(topics, kind, newId('inv', now), { ...others, sourceId: workflowId, now }, value, {
    run: runId,
    ...(execution === undefined ? {} : { execution: String(execution) }),
    ...(by === undefined ? {} : { by: JSON.stringify(by) }),
  });
};

/**
 * Cancels the unfinished runs of a workflow that arrived before: all, or those of `runs`. A repeat for the same `cause` has
 * the same id.
 */
export const cancelRunsInvocation = (
  topics: TopicPolicy,
  call: Omit<Steering, 'runId'> & {
    readonly by: object;
    readonly cause: string;
    readonly runs?: readonly string[];
  },
): Invocation => {
  const { workflowId, workspaceId, now, by, cause, runs } = call;
  const parts = { by: JSON.stringify(by) };
  const id = derivedId('inv', workflowId, cause);
  return invocation(
    topics,
    'cancel_runs',
    id,
    { sourceId: workflowId, workspaceId, now },
    JSON.stringify(runs ?? null),
    parts,
  );
};

/** Makes the runner that owns a workflow's lane go on with its unfinished runs. */
export const wakeInvocation = (
  topics: TopicPolicy,
  { workflowId, workspaceId, now }: Omit<Steering, 'runId'>,
): Invocation => invocation(topics, 'wake', newId('inv', now), { sourceId: workflowId, workspaceId, now }, 'null');

const invocation = (
  topics: TopicPolicy,
  kind: InvocationKind,
  id: string,
  { sourceId, workspaceId, now, hops = 0, prop = '', respond = '' }: Call,
  value: string,
  parts: Partial<InvocationHeaders> = {},
): Invocation => {
  const common = { id, kind, source: sourceId, workspace: workspaceId, at: String(now), hops: String(hops), prop };
  return { topic: topics.invocations(sourceId), key: sourceId, headers: { ...common, respond, ...parts }, value };
};
