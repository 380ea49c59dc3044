import { type Actor } from '#libs/kernel/events.js';
import { exportsText } from './next-execution.js';
import { type ItemOutcome, LOOP_PARTS } from './loop-state.js';
import { type KeptItems, type ReusedStep, type RunOrigin } from './run-facts.js';
import { type NamedSteps } from './run-plan.js';
import { PARTS, type RunState, hasEnded, originOf, outcomeOf, runErrorOf } from './run-state.js';

export interface ReplayRequest {
  /** `start`, `failed`, or the namespace of a step. */
  readonly from: string;
  /** Version or draft that the replay starts with. Null for the version that is in force at its start. */
  readonly startsWith: string | null;
  readonly isTest: boolean;
  /** JSON text that replaces the event. Null keeps the event of the run. */
  readonly event: string | null;
  readonly by: Actor;
}

/** What a replay begins with. Its invocation decides its id and time; a null `keyRun` stands for that id. */
export interface RunReplay {
  readonly origin: Omit<RunOrigin, 'id' | 'keyRun' | 'arrivedAt'> & { readonly keyRun: string | null };
  /** JSON text. */
  readonly event: string;
  readonly reused: readonly ReusedStep[];
  /** What succeeded of the loop in which the run failed. Absent without such a loop. */
  readonly kept?: KeptItems;
}

export type ReplayRefusal =
  | { readonly refused: 'not_finished' | 'nothing_failed' | 'event_not_kept' }
  | { readonly refused: 'step_not_reached'; readonly namespace: string };

/**
 * Decides what a replay of a run begins with, given the steps of the version that it starts with. Steps before `from` are
 * reused by namespace with their outcomes. Only a replay from the failed step continues the same work, under the same keys.
 */
export const replayStart = (plan: NamedSteps, state: RunState, request: ReplayRequest): RunReplay | ReplayRefusal => {
  const { from } = request;
  if (!hasEnded(state)) return { refused: 'not_finished' };
  if (from === 'failed' && state.head.status !== 'failed') return { refused: 'nothing_failed' };
  const reused = from === 'start' ? [] : reusedBefore(plan, state, from);
  if ('refused' in reused) return reused;
  const event = request.event ?? state.parts[PARTS.event];
  if (event === undefined) return { refused: 'event_not_kept' };
  const kept = from === 'failed' ? keptItems(state) : undefined;
  return { origin: originOfReplay(state, request), event, reused, ...(kept ? { kept } : {}) };
};

/** Log and messages are those of the run that ran the item. */
const keptItems = (state: RunState): KeptItems | undefined => {
  const namespace = runErrorOf(state)?.namespace;
  if (namespace === undefined || namespace === null) return undefined;
  const prefix = LOOP_PARTS.items(namespace);
  const items = Object.entries({ ...state.parts, ...state.recent }).flatMap(([name, text]) => {
    if (!name.startsWith(prefix)) return [];
    const outcome = JSON.parse(text) as ItemOutcome;
    if (outcome.state !== 'succeeded') return [];
    return [{ index: Number(name.slice(prefix.length)), outcome: JSON.stringify({ ...outcome, logs: [], sends: [] }) }];
  });
  return items.length === 0 ? undefined : { namespace, items };
};

const reusedBefore = ({ steps }: NamedSteps, state: RunState, from: string): ReusedStep[] | ReplayRefusal => {
  const failed = runErrorOf(state)?.namespace ?? null;
  const names = steps.map(({ namespace }) => namespace);
  const isMissing = (namespace: string): boolean => {
    const outcome = outcomeOf(state, namespace);
    return outcome === undefined || outcome.state === 'cancelled' || namespace === failed;
  };
  const first = from === 'failed' ? failed : from;
  // Without a failed step, for example because the queue was full, the replay goes on after the steps that were done.
  const index = first === null ? [...names.map(isMissing), true].indexOf(true) : names.indexOf(first);
  if (first !== null && index === -1) return { refused: 'step_not_reached', namespace: first };
  const done = names.slice(0, index);
  const missing = done.find(isMissing);
  if (missing !== undefined) return { refused: 'step_not_reached', namespace: missing };
  return done.map((namespace) => ({
    namespace,
    step: state.parts[PARTS.step(namespace)] ?? '',
    exports: exportsText(state, namespace),
    resumeData: state.parts[PARTS.resumeData(namespace)] ?? null,
  }));
};

const originOfReplay = (state: RunState, { from, startsWith, isTest, by }: ReplayRequest): RunReplay['origin'] => {
  const { id, keyRun, workflowId, ownerId, trigger, sourceType, verified, nostore, traceId, hops } = originOf(state);
  return {
    workflowId,
    ownerId,
    trigger,
    sourceType,
    test: isTest,
    verified,
    traceId,
    hops,
    ...(nostore === undefined ? {} : { nostore }),
    ...(startsWith === null ? {} : { startsWith }),
    replayOf: id,
    replayFrom: from,
    replayedBy: by,
    keyRun: from === 'failed' ? keyRun : null,
    hasCaller: false,
  };
};
