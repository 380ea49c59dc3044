import { type UserError } from '#libs/component-model/run-output.js';
import { type Actor } from '#libs/kernel/events.js';
import {
  type CancelReason,
  type ExecutionRecord,
  type Reply,
  type Resume,
  type RunFact,
  type RunOrigin,
  type WaitKind,
} from './run-facts.js';
import { LOOP_PARTS, type Loop, evolveLoop, itemsInterrupted } from './loop-state.js';
import { PARTS, type RunParts, partOf, withRecent } from './run-parts.js';
import { type PinnedVersion } from './run-plan.js';
import { heardOf, type StepOutcome } from './step-outcome.js';

export { PARTS } from './run-parts.js';

export const ENDED_STATUSES = ['succeeded', 'exited', 'failed', 'cancelled'] as const;
export type RunStatus = 'queued' | 'running' | 'waiting' | 'succeeded' | 'exited' | 'failed' | 'cancelled';

/** The execution that runs, or that the run waits after. */
export interface Position {
  readonly namespace: string;
  /** Executions by `rerun`, from 1. */
  readonly runs: number;
  /** Attempts of this one, from 1. */
  readonly attempt: number;
  readonly startedAt: number;
  /** How often it started again because another run ended its process. */
  readonly interruptions: number;
}

/** What each commit of a run replaces, about 0.5 KB (docs/adr/0071). A new owner reads the heads of all runs. */
export interface RunHead {
  readonly status: RunStatus;
  readonly place: number | null;
  readonly version: PinnedVersion | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Milliseconds of executions that have ended. */
  readonly executedMs: number;
  readonly stretch: { readonly startedAt: number; readonly deadline: number } | null;
  /** Of a step with `for_each`, once its list is known. Absent otherwise. */
  readonly loop?: Loop | undefined;
  /** Executions so far. The number of an execution is that of the wait after it, and a crash does not change it. */
  readonly executions: number;
  readonly position: Position | null;
  readonly wait: { readonly kind: WaitKind; readonly since: number; readonly resumeAt: number } | null;
  /** The last wait that ended, when it did, and the request that ended it. */
  readonly resumed: {
    readonly namespace: string;
    readonly kind: WaitKind;
    readonly at: number;
    readonly request?: string;
  } | null;
  readonly resumedBy: Actor | null;
  readonly cancelReason: CancelReason | null;
  readonly cancelledBy: Actor | null;
  /** The request that cancelled the run. */
  readonly cancelRequest?: string;
  readonly reply: { readonly status: number; readonly sentAt: number | null } | null;
  /** UTF-8 bytes of all parts. */
  readonly bytes: number;
  /** Places of messages of which the history has a text each. Absent for none. */
  readonly messages?: number;
}

/** State of a run as it is stored: the head, and texts by name that a commit changes one by one. */
export interface RunState extends RunParts {
  readonly head: RunHead;
}

const NOTHING: RunHead = {
  status: 'queued',
  place: null,
  version: null,
  startedAt: null,
  endedAt: null,
  executedMs: 0,
  stretch: null,
  executions: 0,
  position: null,
  wait: null,
  resumed: null,
  resumedBy: null,
  cancelReason: null,
  cancelledBy: null,
  reply: null,
  bytes: 0,
};

export const initialRun: RunState = { head: NOTHING, parts: {} };

export const exists = ({ parts }: RunState): boolean => PARTS.origin in parts;

export const hasEnded = ({ head }: RunState): boolean => head.endedAt !== null;

/** Only for a run that exists. */
export const originOf = ({ parts }: RunState): RunOrigin => {
  const known = origins.get(parts);
  if (known) return known;
  const origin = JSON.parse(parts[PARTS.origin] ?? 'null') as RunOrigin;
  origins.set(parts, origin);
  return origin;
};

/** A run's origin never changes, so the parts of its later states have the same. */
const origins = new WeakMap<RunState['parts'], RunOrigin>();

export const outcomeOf = ({ parts }: RunState, namespace: string): StepOutcome | undefined => {
  const text = parts[PARTS.step(namespace)];
  return text === undefined ? undefined : (JSON.parse(text) as StepOutcome);
};

/** What failed the run, with the namespace of the step, if it was one. */
export const runErrorOf = ({ head, parts }: RunState): (UserError & { readonly namespace: string | null }) | null =>
  head.status === 'failed'
    ? (JSON.parse(parts[PARTS.end] ?? 'null') as UserError & { readonly namespace: string | null })
    : null;

export const keptResume = ({ parts }: RunState): Resume | undefined => {
  const text = parts[PARTS.kept];
  return text === undefined ? undefined : (JSON.parse(text) as Resume);
};

const keepOrigin = (before: RunState['parts'], after: RunState['parts']): void => {
  const origin = origins.get(before);
  if (origin) origins.set(after, origin);
};

const withParts = (state: RunState, changed: Readonly<Record<string, string | null>>): RunState => {
  const parts: Record<string, string> = { ...state.parts };
  let { bytes } = state.head;
  for (const [name, text] of Object.entries(changed)) {
    bytes -= Buffer.byteLength(parts[name] ?? '');
    if (text === null) delete parts[name];
    else {
      bytes += Buffer.byteLength(text);
      parts[name] = text;
    }
  }
  keepOrigin(state.parts, parts);
  return { ...state, head: { ...state.head, bytes }, parts };
};

const withHead = (state: RunState, changed: Partial<RunHead>): RunState => ({
  ...state,
  head: { ...state.head, ...changed },
});

export const evolveRun = (state: RunState, fact: RunFact): RunState => {
  switch (fact.type) {
    case 'RunArrived':
      return arrived(state, fact.data);
    case 'RunStarted': {
      const { at, deadline, version } = fact.data;
      return withHead(state, { status: 'running', version, startedAt: at, stretch: { startedAt: at, deadline } });
    }
    case 'StretchBegun': {
      const { at, deadline } = fact.data;
      return withHead(state, { status: 'running', stretch: { startedAt: at, deadline } });
    }
    case 'StepStarted': {
      const { at, ...position } = fact.data;
      const executions = state.head.executions + 1;
      return withHead(state, { executions, position: { ...position, startedAt: at, interruptions: 0 } });
    }
    case 'StepInterrupted':
      return interrupted(state, fact.data);
    case 'StepSkipped':
      return skipped(state, fact.data);
    case 'ItemsListed':
    case 'ItemStarted':
    case 'ItemSucceeded':
    case 'ItemFailed':
      return withItems(state, fact);
    case 'StepSucceeded':
      return executed(state, fact.data, { state: 'succeeded', error: null, retryAt: null });
    case 'StepFailed': {
      const { error, retryAt } = fact.data;
      return executed(state, fact.data, { state: 'failed', error, retryAt });
    }
    case 'WaitBegun': {
      const { at, kind, resumeAt, context } = fact.data;
      const waiting = withHead(state, { status: 'waiting', stretch: null, wait: { kind, since: at, resumeAt } });
      return withParts(
        kind === 'retry' ? waiting : withReplySent(waiting, at),
        context === null ? {} : { [PARTS.context]: context },
      );
    }
    case 'ResumeKept':
      return withParts(state, { [PARTS.kept]: JSON.stringify(fact.data.resume) });
    case 'WaitEnded':
      return waitEnded(state, fact.data);
    case 'RunSucceeded':
      return ended(state, 'succeeded', fact.data.at, null);
    case 'RunExited':
      return ended(state, 'exited', fact.data.at, fact.data.reason);
    case 'RunFailed': {
      const { at, namespace, error } = fact.data;
      return ended(state, 'failed', at, JSON.stringify({ ...error, namespace }));
    }
    case 'RunCancelled':
      return cancelled(state, fact.data);
  }
};

type DataOf<T extends RunFact['type']> = Extract<RunFact, { readonly type: T }>['data'];

const withItems = (state: RunState, fact: Parameters<typeof evolveLoop>[2]): RunState => {
  const { head, list, item } = evolveLoop(state.head.position?.namespace ?? '', state.head, fact);
  const reply = 'reply' in fact.data ? fact.data.reply : null;
  const listed = list ? withParts(state, list) : state;
  return withReply(withHead(item ? withItem(listed, item) : listed, head), reply);
};

const withItem = (state: RunState, { name, text }: { readonly name: string; readonly text: string }): RunState => {
  const bytes = state.head.bytes + Buffer.byteLength(text) - Buffer.byteLength(partOf(state, name) ?? '');
  const { parts, recent = {} } = withRecent(state, name, text);
  keepOrigin(state.parts, parts);
  return { head: { ...state.head, bytes }, parts, recent };
};

const arrived = (state: RunState, { origin, place, event, reused, kept }: DataOf<'RunArrived'>): RunState => {
  const parts: Record<string, string> = { [PARTS.origin]: JSON.stringify(origin) };
  if (event !== null) parts[PARTS.event] = event;
  for (const { namespace, step, exports, resumeData } of reused) {
    // The messages are those of the run that sent them, and the exports have what its items left.
    const outcome: StepOutcome = { ...(JSON.parse(step) as StepOutcome), reused: true, sends: [], items: undefined };
    parts[PARTS.step(namespace)] = JSON.stringify(outcome);
    if (exports !== null) parts[PARTS.exports(namespace)] = exports;
    if (resumeData !== null) parts[PARTS.resumeData(namespace)] = resumeData;
  }
  for (const { index, outcome } of kept?.items ?? []) parts[LOOP_PARTS.item(kept?.namespace ?? '', index)] = outcome;
  return withHead(withParts(state, parts), { place });
};

/** The lost execution leaves nothing: neither its time nor an attempt. */
const interrupted = (state: RunState, fact: DataOf<'StepInterrupted'>): RunState => {
  const { at, deadline, cause } = fact;
  const { position, loop } = state.head;
  if (loop) return withHead(state, { loop: itemsInterrupted(loop, fact) });
  if (!position) return state;
  const interruptions = position.interruptions + (cause === 'process' ? 1 : 0);
  return withHead(state, {
    stretch: { startedAt: at, deadline },
    position: { ...position, startedAt: at, interruptions },
  });
};

const skipped = (state: RunState, { at, namespace, reason }: DataOf<'StepSkipped'>): RunState => {
  const outcome: StepOutcome = {
    state: 'skipped',
    skipReason: reason,
    reused: false,
    startedAt: null,
    endedAt: at,
    durationMs: 0,
    runs: 0,
    attempts: 0,
    error: null,
    retryAt: null,
    sends: [],
  };
  return withParts(state, { [PARTS.step(namespace)]: JSON.stringify(outcome) });
};

const executed = (
  state: RunState,
  { at, exports, props, logs, sends, reply, deadline }: ExecutionRecord & { readonly at: number },
  how: Pick<StepOutcome, 'state' | 'error' | 'retryAt'>,
): RunState => {
  const { position, executedMs, stretch, loop, messages = 0 } = state.head;
  if (!position) return state;
  const { namespace, runs, attempt, startedAt } = position;
  const before = outcomeOf(state, namespace);
  const places = heardOf(sends) - heardOf(before?.sends ?? []);
  const durationMs = loop ? loop.executedMs : Math.max(0, at - startedAt);
  const outcome: StepOutcome = {
    state: how.state,
    skipReason: null,
    reused: false,
    startedAt: before?.startedAt ?? startedAt,
    endedAt: at,
    durationMs: (before?.durationMs ?? 0) + durationMs,
    runs,
    attempts: attempt,
    error: how.error,
    retryAt: how.retryAt,
    sends,
    items: loop?.count,
  };
  const after = withParts(state, {
    [PARTS.step(namespace)]: JSON.stringify(outcome),
    [PARTS.exports(namespace)]: exports,
    [PARTS.props(namespace)]: props,
    [PARTS.logs(namespace)]: logs.length > 0 ? JSON.stringify(logs) : null,
    // It was for the wait of this execution, if that begins one.
    [PARTS.kept]: null,
    // A retry gets what the execution got that it repeats.
    ...(how.retryAt === null ? { [PARTS.context]: null, [PARTS.callback]: null } : {}),
    ...(loop ? { [LOOP_PARTS.list(namespace)]: null } : {}),
  });
  return withHead(withReply(after, reply), {
    executedMs: executedMs + (loop ? 0 : durationMs),
    loop: undefined,
    ...(places > 0 ? { messages: messages + places } : {}),
    stretch: stretch && { startedAt: stretch.startedAt, deadline },
  });
};

/** The first reply of a run counts. */
const withReply = (state: RunState, reply: Reply | null): RunState =>
  !reply || state.head.reply
    ? state
    : withHead(withParts(state, { [PARTS.reply]: reply.text }), {
        reply: { status: reply.status, sentAt: reply.sentAt },
      });

const waitEnded = (state: RunState, { at, resume }: DataOf<'WaitEnded'>): RunState => {
  const { position, wait } = state.head;
  if (!position || !wait) return state;
  const { namespace } = position;
  const place = wait.kind === 'rerun' ? PARTS.callback : PARTS.resumeData(namespace);
  const data = resume?.data ?? null;
  const after = withParts(state, data === null ? {} : { [place]: data });
  return withHead(after, {
    status: 'queued',
    wait: null,
    resumed: {
      namespace,
      kind: wait.kind,
      at,
      ...(resume?.request === undefined ? {} : { request: resume.request }),
    },
    resumedBy: resume?.by ?? state.head.resumedBy,
  });
};

const ended = (state: RunState, status: RunStatus, at: number, end: string | null): RunState => {
  const after = withParts(state, {
    [PARTS.end]: end,
    [PARTS.context]: null,
    [PARTS.callback]: null,
    [PARTS.kept]: null,
  });
  return withReplySent(withHead(after, { status, endedAt: at, stretch: null, wait: null }), at);
};

const cancelled = (state: RunState, { at, reason, by, request }: DataOf<'RunCancelled'>): RunState =>
  withHead(ended(withStepCancelled(state, at), 'cancelled', at, null), {
    cancelReason: reason,
    cancelledBy: by,
    ...(request === undefined ? {} : { cancelRequest: request }),
  });

/** The step that runs, or that waits for another execution, is cancelled with its run. */
const withStepCancelled = (state: RunState, at: number): RunState => {
  const { status, position, resumed, executedMs, loop } = state.head;
  const isOver = status === 'queued' && (resumed?.kind === 'delay' || resumed?.kind === 'suspend');
  if (!position || isOver) return state;
  const { namespace, runs, attempt, startedAt } = position;
  const before = outcomeOf(state, namespace);
  const lastedMs = status === 'running' && !loop ? Math.max(0, at - startedAt) : 0;
  const outcome: StepOutcome = {
    state: 'cancelled',
    skipReason: null,
    reused: false,
    startedAt: before?.startedAt ?? startedAt,
    endedAt: at,
    durationMs: (before?.durationMs ?? loop?.executedMs ?? 0) + lastedMs,
    runs,
    attempts: attempt,
    error: before?.error ?? null,
    retryAt: null,
    sends: before?.sends ?? [],
    items: loop?.count,
  };
  const after = withParts(state, {
    [PARTS.step(namespace)]: JSON.stringify(outcome),
    ...(loop ? { [LOOP_PARTS.list(namespace)]: null } : {}),
  });
  return withHead(after, { executedMs: executedMs + lastedMs, loop: undefined });
};

/** A reply that was not sent at once is sent when the run first waits, or ends. */
const withReplySent = (state: RunState, at: number): RunState => {
  const { reply } = state.head;
  return reply?.sentAt === null ? withHead(state, { reply: { ...reply, sentAt: at } }) : state;
};
