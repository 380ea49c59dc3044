import { type UserError } from '#libs/component-model/run-output.js';
import { MAX_SENDS } from '#libs/component-model/step-run.js';
import { type RunFact } from './run-facts.js';
import { type RunParts, partOf } from './run-parts.js';
import { heardOf } from './step-outcome.js';

/** Most items of a `for_each`. */
export const MOST_ITEMS = 1_000;

/** An item that executes, or that is tried again later. It keeps its place until it has an outcome for good. */
export interface ItemPlace {
  readonly index: number;
  /** Attempts of the item, from 1. */
  readonly attempt: number;
  /** Number of its execution in the run. */
  readonly execution: number;
  readonly startedAt: number;
  readonly deadline: number;
  /** How often it started again because another run ended its process. */
  readonly interruptions: number;
  /** Null while it executes. */
  readonly retryAt: number | null;
  /** Most places of messages of its earlier attempts, which each attempt has anew. Absent for none. */
  readonly messages?: number;
}

/** The loop of the current step. It is part of the head, so it has the items in progress alone, at most 100. */
export interface Loop {
  readonly count: number;
  /** Items before this one have started. */
  readonly next: number;
  readonly places: readonly ItemPlace[];
  /** An item has failed for good, and no further item starts. */
  readonly stops: boolean;
  /** An item called `$.flow.exit`, and no further item starts. */
  readonly exit: { readonly reason: string | null } | null;
  /** Milliseconds of executions of items that have ended. */
  readonly executedMs: number;
  /** An item has failed, for good or not. */
  readonly hasFailed: boolean;
}

export const LOOP_PARTS = {
  /** JSON text of the list, while the loop goes on. */
  list: (namespace: string) => `list/${namespace}`,
  item: (namespace: string, index: number) => `item/${namespace}/${index}`,
  /** What the names of all items of a step begin with. */
  items: (namespace: string) => `item/${namespace}/`,
} as const;

/** What the last attempt of an item left, in its part. */
export interface ItemOutcome {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly state: 'succeeded' | 'failed';
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attempts: number;
  readonly error: UserError | null;
  readonly logs: FactOf<'ItemSucceeded'>['logs'];
  readonly sends: FactOf<'ItemSucceeded'>['sends'];
}

/** Place of a message among those of its step, where each item before it has as many places as an execution may send. */
export const placeOfSend = (index: number, item = 0): number => item * MAX_SENDS + index;

type ItemFact = Extract<RunFact, { readonly type: 'ItemsListed' | 'ItemStarted' | 'ItemSucceeded' | 'ItemFailed' }>;
type FactOf<T extends RunFact['type']> = Extract<RunFact, { readonly type: T }>['data'];

/** The parts of a run's head that a loop changes. */
interface LoopHead {
  readonly loop?: Loop | undefined;
  readonly executions: number;
  readonly executedMs: number;
  readonly messages?: number;
}

interface LoopChange {
  readonly head: Partial<LoopHead>;
  readonly list?: Readonly<Record<string, string>>;
  readonly item?: { readonly name: string; readonly text: string };
}

export const isExecuting = ({ retryAt }: ItemPlace): boolean => retryAt === null;

/** What one fact changes in a run. No fact of an item reads or writes the others. */
export const evolveLoop = (namespace: string, head: LoopHead, fact: ItemFact): LoopChange => {
  if (fact.type === 'ItemsListed') {
    const { list, count } = fact.data;
    const loop: Loop = { count, next: 0, places: [], stops: false, exit: null, executedMs: 0, hasFailed: false };
    return { head: { loop }, list: { [LOOP_PARTS.list(namespace)]: list } };
  }
  if (!head.loop) return { head: {} };
  return fact.type === 'ItemStarted'
    ? { head: itemStarted(head, head.loop, fact.data) }
    : itemEnded(namespace, head, head.loop, fact);
};

const itemStarted = (
  head: LoopHead,
  loop: Loop,
  { at, deadline, index, attempt }: FactOf<'ItemStarted'>,
): Partial<LoopHead> => {
  const execution = head.executions + 1;
  const { messages } = loop.places.find((other) => other.index === index) ?? {};
  const kept = messages === undefined ? {} : { messages };
  const place = { index, attempt, execution, startedAt: at, deadline, interruptions: 0, retryAt: null, ...kept };
  const places = [...loop.places.filter((other) => other.index !== index), place];
  return { executions: execution, loop: { ...loop, next: Math.max(loop.next, index + 1), places } };
};

const itemEnded = (
  namespace: string,
  { executedMs, messages = 0 }: LoopHead,
  loop: Loop,
  fact: Extract<ItemFact, { readonly type: 'ItemSucceeded' | 'ItemFailed' }>,
): LoopChange => {
  const { at, execution, exports, logs, sends } = fact.data;
  const place = loop.places.find((each) => each.execution === execution);
  if (!place) return { head: {} };
  const failure = fact.type === 'ItemFailed' ? fact.data : null;
  const outcome: Omit<ItemOutcome, 'exports'> = {
    state: failure ? 'failed' : 'succeeded',
    startedAt: place.startedAt,
    endedAt: at,
    attempts: place.attempt,
    error: failure && failure.error,
    logs,
    sends,
  };
  const lastedMs = Math.max(0, at - place.startedAt);
  const others = loop.places.filter((each) => each !== place);
  const retryAt = failure?.retryAt ?? null;
  const { messages: had = 0 } = place;
  const more = Math.max(0, heardOf(sends) - had);
  const waits = { ...place, retryAt, ...(more > 0 ? { messages: had + more } : {}) };
  const after: Loop = {
    ...loop,
    places: retryAt === null ? others : [...others, waits],
    stops: loop.stops || failure?.stops === true,
    exit: loop.exit ?? (fact.type === 'ItemSucceeded' ? fact.data.exit : null),
    executedMs: loop.executedMs + lastedMs,
    hasFailed: loop.hasFailed || failure !== null,
  };
  return {
    head: {
      loop: after,
      executedMs: executedMs + lastedMs,
      ...(more > 0 ? { messages: messages + more } : {}),
    },
    // The exports are a JSON text already.
    item: {
      name: LOOP_PARTS.item(namespace, place.index),
      text: `{"exports":${exports},${JSON.stringify(outcome).slice(1)}`,
    },
  };
};

/** Items that execute begin again, each with a stretch of its own. Only one of them when its process alone was lost. */
export const itemsInterrupted = (loop: Loop, { at, deadline, execution }: FactOf<'StepInterrupted'>): Loop => ({
  ...loop,
  places: loop.places.map((place) => {
    if (!isExecuting(place) || (execution !== undefined && place.execution !== execution)) return place;
    const interruptions = place.interruptions + (execution === undefined ? 0 : 1);
    return { ...place, startedAt: at, deadline, interruptions };
  }),
});

/** Outcomes in item order. Null for an item that has none. */
export const itemOutcomes = (run: RunParts, namespace: string, count: number): readonly (ItemOutcome | null)[] =>
  Array.from({ length: count }, (_, index) => {
    const text = partOf(run, LOOP_PARTS.item(namespace, index));
    return text === undefined ? null : (JSON.parse(text) as ItemOutcome);
  });

/** Members of `steps.<namespace>` that derive from the items, so that no result is stored twice. */
export const itemMembers = (outcomes: readonly (ItemOutcome | null)[]): readonly string[] => {
  const results = outcomes.map((outcome) =>
    outcome?.state === 'succeeded' ? (outcome.exports.$return_value ?? null) : null,
  );
  const items = outcomes.map((outcome, index) => {
    if (!outcome) return { index, state: 'pending', exports: null, error: null };
    const { state, exports } = outcome;
    return { index, state, exports, error: itemError(outcome) };
  });
  return [`"$return_value":${JSON.stringify(results)}`, `"$items":${JSON.stringify(items)}`];
};

/** As `$error` of a step. */
export const itemError = ({ error, endedAt }: ItemOutcome) => {
  if (!error) return null;
  const { name, message, code, stack } = error;
  return { name, message, code, stack, ts: new Date(endedAt).toISOString() };
};
