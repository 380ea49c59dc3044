import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { type HookOutcome, type HookRunner } from '#libs/sources/published.js';
import { ask } from '#libs/stream-log/ask.js';
import { hookInvocation, settledInvocation } from '#libs/stream-log/invocations.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type HookRequest, type OperationEnd } from './hook-invocation.js';
import { type RunOutcome } from '#libs/sandbox/index.js';

/** Awaits outcomes in this process, as a ResponseRelay does. */
export interface AwaitedOutcomes {
  readonly address: string;
  /** Resolves with undefined after `timeoutMs` or when cancelled. Call it before publishing the invocation. */
  expectOutcome(invocationId: string, timeoutMs: number): Promise<RunOutcome | undefined>;
  cancel(invocationId: string): void;
}

export interface HooksOverLogDependencies {
  readonly log: StreamLog;
  readonly topics: TopicPolicy;
  readonly relay: AwaitedOutcomes;
  readonly events: Pick<EventStore, 'lastPosition'>;
  readonly clock: Clock;
  /** Longest run time of a hook in milliseconds. */
  readonly timeoutMs: number;
}

/** Added to the hook's own time, because the lane may be moving from a dead runner to another. */
export const HOOK_MARGIN_MS = 30_000;

/** Runs hooks in the process that runs the source, over the source's own lane (docs/adr/0011). */
export const hooksOverLog = (deps: HooksOverLogDependencies): HookRunner => {
  const { log, topics, relay, clock } = deps;
  return {
    async runHook({ sourceId, workspaceId, definition, hook }): Promise<HookOutcome> {
      const patienceMs = deps.timeoutMs + HOOK_MARGIN_MS;
      const now = clock.now();
      const untilUptimeMs = performance.now() + patienceMs;
      const request: HookRequest = { hook, definition, deadline: now + patienceMs, untilUptimeMs };
      const call = { sourceId, workspaceId, now, respond: relay.address, request: JSON.stringify(request) };
      const asked = await ask(log, hookInvocation(topics, call), {
        expect: (id) => relay.expectOutcome(id, patienceMs),
        cancel: (id) => relay.cancel(id),
      });
      if (!asked) throw new DomainError('source.not_found', `source ${sourceId} was deleted`, { id: sourceId });
      const outcome = await asked.answer;
      if (!outcome) throw unanswered(sourceId, hook, patienceMs);
      const { status, error, logs } = outcome;
      return error ? { status, error, logs } : { status, logs };
    },

    async operationEnded(sourceId): Promise<void> {
      // The operation's last event is in the log by now.
      const end: OperationEnd = { position: await deps.events.lastPosition() };
      await log.publish([settledInvocation(topics, { sourceId, now: clock.now(), end: JSON.stringify(end) })]);
    },
  };
};

const unanswered = (sourceId: string, hook: string, waitedMs: number): DomainError =>
  new DomainError(
    'platform.unavailable',
    `hook ${hook} of source ${sourceId} was not answered within ${waitedMs / 1_000} s: ` +
      'check that a runner is ready (/readyz) and what its log says about this source, then try again',
    { source_id: sourceId, hook, waited_ms: waitedMs },
  );
