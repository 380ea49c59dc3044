import { type Clock } from '../kernel/clock.js';
import { DomainError } from '../kernel/domain-error.js';
import { type EventStore } from '../kernel/event-store.js';
import { newId } from '../kernel/ids.js';
import { type HookOutcome, type HookRunner } from '../sources/published.js';
import { type InvocationHeaders, type InvocationKind } from '../stream-log/envelopes.js';
import { type LogRecord, type StreamLog } from '../stream-log/stream-log.js';
import { type TopicPolicy } from '../stream-log/topics.js';
import { type HookRequest, type OperationEnd } from './hook-invocation.js';
import { type RunOutcome } from '../sandbox/sandbox.js';

/** Place where this process awaits outcomes, such as a ResponseRelay. */
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

/** Time added to the hook's own, because the lane may be moving from a dead runner to another. */
export const HOOK_MARGIN_MS = 30_000;

/** Runs hooks in whichever process runs the source, through the source's own lane (docs/adr/0011). */
export const hooksOverLog = (deps: HooksOverLogDependencies): HookRunner => {
  const { log, relay, clock } = deps;
  return {
    async runHook({ sourceId, workspaceId, definition, hook }): Promise<HookOutcome> {
      const patienceMs = deps.timeoutMs + HOOK_MARGIN_MS;
      const request: HookRequest = { hook, definition, deadline: clock.now() + patienceMs };
      const record = recordFor(deps, { kind: 'hook', sourceId, workspaceId, respond: relay.address, value: request });
      const id = record.headers['id'] as string;
      const ended = relay.expectOutcome(id, patienceMs);
      let offset: number | null | undefined;
      try {
        [offset] = await log.publish([record]);
      } catch (error) {
        relay.cancel(id);
        throw error;
      }
      if (offset === null || offset === undefined) {
        relay.cancel(id);
        throw new DomainError('source.not_found', `source ${sourceId} was deleted`, { id: sourceId });
      }
      const outcome = await ended;
      if (!outcome) throw unanswered(sourceId, hook, patienceMs);
      const { status, error, logs } = outcome;
      return error ? { status, error, logs } : { status, logs };
    },

    async operationEnded(sourceId): Promise<void> {
      // The operation's last event is in the log by now.
      const operationEnd: OperationEnd = { position: await deps.events.lastPosition() };
      const value = { kind: 'settled', sourceId, workspaceId: '', respond: '', value: operationEnd } as const;
      await log.publish([recordFor(deps, value)]);
    },
  };
};

interface Told {
  readonly kind: InvocationKind;
  readonly sourceId: string;
  readonly workspaceId: string;
  readonly respond: string;
  readonly value: HookRequest | OperationEnd;
}

const recordFor = (
  { topics, clock }: HooksOverLogDependencies,
  { kind, sourceId, workspaceId, respond, value }: Told,
): LogRecord => {
  const now = clock.now();
  const headers: InvocationHeaders = {
    id: newId('inv', now),
    kind,
    source: sourceId,
    workspace: workspaceId,
    at: String(now),
    hops: '0',
    prop: '',
    respond,
  };
  return { topic: topics.invocations(sourceId), key: sourceId, headers, value: JSON.stringify(value) };
};

const unanswered = (sourceId: string, hook: string, waitedMs: number): DomainError =>
  new DomainError(
    'platform.unavailable',
    `hook ${hook} of source ${sourceId} was not answered within ${waitedMs / 1_000} s: ` +
      'check that a runner is ready (/readyz) and what its log says about this source, then try again',
    { source_id: sourceId, hook, waited_ms: waitedMs },
  );
