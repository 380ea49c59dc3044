import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type RunOutcome } from '#libs/sandbox/index.js';
import { type Observation, type RunEnd } from '#libs/sources/published.js';
import { ask, isDropped } from '#libs/stream-log/ask.js';
import { manualInvocation } from '#libs/stream-log/invocations.js';
import { bytesAbove, EVENT_BYTES } from '#libs/stream-log/record-limits.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Door, refusedAtDoor } from './door.js';
import { type ResponseRelay } from './response-relay.js';

export interface ManualRunsDependencies {
  readonly log: StreamLog;
  readonly topics: TopicPolicy;
  readonly relay: ResponseRelay;
  readonly door?: Door;
  readonly clock: Clock;
  /** How long a caller with `wait` waits: the run's time limit plus a margin. */
  readonly timeoutMs: number;
  /** JSON text of the event for a run without one: the event of the source's timer, else `{}`. */
  readonly defaultEvent: (sourceId: string) => string;
}

export interface ManualRunResult {
  readonly invocationId: string;
  readonly observations?: readonly Observation[];
  /** Whether the run had ended when the wait was over. Set only with `wait`. */
  readonly ended?: boolean;
  /** How it ended. Set only for a run that had ended. */
  readonly end?: RunEnd;
}

/** Publishes manual runs, which take the path of all invocations (docs/reference/component-model.md#manual-run). */
export const manualRuns = (deps: ManualRunsDependencies) => ({
  async run(sourceId: string, workspaceId: string, event: unknown, wait: boolean): Promise<ManualRunResult> {
    mayEnter(deps.door, sourceId, workspaceId);
    const { log, topics, relay, clock, timeoutMs } = deps;
    const text = event === undefined ? deps.defaultEvent(sourceId) : JSON.stringify(event);
    mustFit(text, EVENT_BYTES);
    const invocation = manualInvocation(topics, {
      sourceId,
      workspaceId,
      now: clock.now(),
      respond: wait ? relay.address : '',
      event: text,
    });
    const invocationId = invocation.headers.id;
    if (!wait) {
      const [offset] = await log.publish([invocation]);
      if (isDropped(offset)) throw deleted(sourceId);
      deps.door?.stored?.(sourceId);
      return { invocationId };
    }
    const asked = await ask(log, invocation, {
      expect: (id) => relay.expectOutcome(id, timeoutMs),
      cancel: (id) => relay.cancel(id),
    });
    if (!asked) throw deleted(sourceId);
    deps.door?.stored?.(sourceId);
    const outcome = await asked.answer;
    // No outcome yet: the invocation waits in the lane behind other runs, and will still run.
    if (!outcome) return { invocationId, ended: false, observations: [] };
    return { invocationId, ended: true, observations: observationsOf(outcome), end: endOf(outcome) };
  },
});

/** Throws what the door refuses an event with. */
export const mayEnter = (door: Door | undefined, id: string, workspaceId: string): void => {
  const refusal = door?.refusal(id, workspaceId);
  if (refusal) throw refusedAtDoor(refusal, refusal.text);
};

/** Throws request.too_large for an event above the limit. */
export const mustFit = (event: string, limit: number): void => {
  const actual = bytesAbove(event, limit);
  if (actual === undefined) return;
  const message = `the event has ${actual} bytes, the limit is ${limit}: send less`;
  throw new DomainError('request.too_large', message, { limit, actual });
};

const deleted = (sourceId: string): DomainError =>
  new DomainError('source.not_found', `source ${sourceId} was deleted`);

const endOf = ({ status, startedAt, endedAt, told = [] }: RunOutcome): RunEnd => ({
  status,
  ms: Math.max(0, Math.round(endedAt - startedAt)),
  emits: told,
});

const observationsOf = ({ logs, error, endedAt }: RunOutcome): readonly Observation[] => {
  if (!error) return logs;
  const { name, message, stack } = error;
  return [...logs, { k: 'error', ts: endedAt, err: { name, message, stack } }];
};
