import { type LogLine, type UserError, causesOf } from '#libs/component-model/run-output.js';
import { type Actor } from '#libs/kernel/events.js';
import { type ItemOutcome, type Loop, isExecuting, itemError, itemOutcomes, placeOfSend } from './loop-state.js';
import { stepTexts } from './next-execution.js';
import { type SendKind } from './run-facts.js';
import { type NamedSteps } from './run-plan.js';
import { PARTS, type RunState, originOf, outcomeOf, runErrorOf } from './run-state.js';
import { type StepOutcome } from './step-outcome.js';

const shownActor = (actor: Actor | null): { readonly user_id: string; readonly api_key_id: string | null } | null =>
  actor && { user_id: actor.userId, api_key_id: actor.apiKeyId };

const shownError = (error: UserError, namespace: string | null, plan: NamedSteps, at: number) => ({
  code: error.code,
  name: error.name,
  message: error.message,
  stack: error.stack,
  ts: new Date(at).toISOString(),
  cellId: plan.steps.find((step) => step.namespace === namespace)?.id ?? null,
  namespace,
  ...causesOf(error),
});

/** The run as lists show it. Its durations hold no execution that is still running. */
export const runRecord = (plan: NamedSteps, state: RunState, workflowName: string) => {
  const { head, parts } = state;
  const origin = originOf(state);
  const error = runErrorOf(state);
  return {
    id: origin.id,
    workflow_id: origin.workflowId,
    workflow_name: workflowName,
    deployment_id: head.version?.deploymentId ?? null,
    version: head.version?.version ?? null,
    owner_id: origin.ownerId,
    state: head.status,
    trigger: origin.trigger,
    test: origin.test,
    replay_of: origin.replayOf,
    replay_from: origin.replayFrom,
    trace_id: origin.traceId,
    hops: origin.hops,
    created_at_ms: origin.arrivedAt,
    started_at_ms: head.startedAt,
    ended_at_ms: head.endedAt,
    duration_ms: head.executedMs,
    waiting: head.wait && {
      kind: head.wait.kind,
      namespace: head.position?.namespace ?? null,
      since_ms: head.wait.since,
      resume_at_ms: head.wait.resumeAt,
    },
    error: error && shownError(error, error.namespace, plan, head.endedAt ?? 0),
    exit_reason: head.status === 'exited' ? (parts[PARTS.end] ?? null) : null,
    cancel_reason: head.cancelReason,
    response: head.reply && { status: head.reply.status, sent_at_ms: head.reply.sentAt },
    cancelled_by: shownActor(head.cancelledBy),
    resumed_by: shownActor(head.resumedBy),
    replayed_by: shownActor(origin.replayedBy),
  };
};

type StepState = 'pending' | 'running' | 'waiting' | 'succeeded' | 'failed' | 'skipped' | 'cancelled';

const parsed = (text: string | undefined): unknown => (text === undefined ? null : JSON.parse(text));

/** State of a step: what its run does now decides before the outcome of an earlier execution does. */
const stateOf = (
  { head }: RunState,
  namespace: string,
  outcome: StepState | undefined,
  failed: string | null,
): StepState => {
  if (failed === namespace) return 'failed';
  if (head.endedAt !== null) return outcome ?? (head.status === 'exited' ? 'skipped' : 'pending');
  if (head.position?.namespace !== namespace) return outcome ?? 'pending';
  if (head.status === 'running') return 'running';
  const goesOn = head.status === 'queued' && (head.resumed?.kind === 'delay' || head.resumed?.kind === 'suspend');
  return goesOn ? (outcome ?? 'pending') : 'waiting';
};

interface ShownSend {
  readonly id: string;
  readonly kind: SendKind;
  readonly state: 'queued' | 'sent' | 'failed';
  readonly attempts: number;
  readonly status: number | null;
  readonly error: string | null;
}

/** A message that is in the log with the outcome of its step has been sent. Others have what the history heard of them. */
const shownSend = ({ id, kind, error }: StepOutcome['sends'][number], text: string | undefined): ShownSend => {
  const unknown = { id, kind, attempts: 0, status: null };
  if (error !== undefined) return { ...unknown, state: 'failed', error };
  if (kind === 'emit' || kind === 'sse') return { ...unknown, state: 'sent', attempts: 1, error: null };
  const heard = parsed(text) as Omit<ShownSend, 'kind'> | null;
  if (heard?.id !== id) return { ...unknown, state: 'queued', error: null };
  const { state, attempts, status, error: failure } = heard;
  return { id, kind, state, attempts, status, error: failure };
};

interface ShownItem {
  readonly index: number;
  readonly state: 'pending' | 'running' | 'waiting' | 'succeeded' | 'failed';
  readonly attempts: number;
  readonly error: ReturnType<typeof itemError>;
}

/** What the items of a loop left, once its list is known. Undefined for a step that runs once. */
const loopOf = (
  run: RunState,
  namespace: string,
  outcome: StepOutcome | undefined,
): { readonly loop: Loop | undefined; readonly outcomes: readonly (ItemOutcome | null)[] } | undefined => {
  const { head } = run;
  const loop = head.position?.namespace === namespace ? head.loop : undefined;
  const count = loop?.count ?? outcome?.items;
  return count === undefined ? undefined : { loop, outcomes: itemOutcomes(run, namespace, count) };
};

const shownItems = ({ loop, outcomes }: NonNullable<ReturnType<typeof loopOf>>): readonly ShownItem[] => {
  const places = new Map(loop?.places.map((place) => [place.index, place]));
  return outcomes.map((item, index): ShownItem => {
    const place = places.get(index);
    const now = place && (isExecuting(place) ? 'running' : 'waiting');
    return {
      index,
      state: now ?? item?.state ?? 'pending',
      attempts: place?.attempt ?? item?.attempts ?? 0,
      error: item && itemError(item),
    };
  });
};

/** All steps of the version, in order, with whole values. */
export const stepRecords = (plan: NamedSteps, state: RunState) => {
  const { head, parts } = state;
  const texts = stepTexts(plan, state);
  const failed = runErrorOf(state)?.namespace ?? null;
  return plan.steps.map(({ namespace, id }) => {
    const outcome = outcomeOf(state, namespace);
    const loop = loopOf(state, namespace, outcome);
    const sends = loop ? loop.outcomes.map((item) => item?.sends ?? []) : [outcome?.sends ?? []];
    const shown = stateOf(state, namespace, outcome?.state, failed);
    const position = head.position?.namespace === namespace ? head.position : null;
    const isRunning = shown === 'running';
    return {
      namespace,
      id,
      state: shown,
      skip_reason: outcome?.skipReason ?? (shown === 'skipped' ? 'exit' : null),
      reused: outcome?.reused ?? false,
      started_at_ms: outcome?.startedAt ?? position?.startedAt ?? null,
      ended_at_ms: isRunning || shown === 'waiting' ? null : (outcome?.endedAt ?? null),
      duration_ms: outcome?.durationMs ?? 0,
      runs: position?.runs ?? outcome?.runs ?? 0,
      attempts: position?.attempt ?? outcome?.attempts ?? 0,
      props: parsed(parts[PARTS.props(namespace)]),
      exports: parsed(texts.get(namespace)),
      logs: loop
        ? loop.outcomes.flatMap((item) => item?.logs ?? [])
        : ((parsed(parts[PARTS.logs(namespace)]) ?? []) as LogLine[]),
      error: outcome?.error ? shownError(outcome.error, namespace, plan, outcome.endedAt) : null,
      ...(loop ? { items: shownItems(loop) } : {}),
      sends: sends.flatMap((ofItem, item) =>
        ofItem.map((send, index) => shownSend(send, parts[PARTS.sent(namespace, placeOfSend(index, item))])),
      ),
    };
  });
};
