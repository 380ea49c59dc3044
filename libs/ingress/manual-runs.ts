import { type Clock } from '../kernel/clock.js';
import { DomainError } from '../kernel/domain-error.js';
import { newId } from '../kernel/ids.js';
import { type RunOutcome } from '../sandbox/sandbox.js';
import { type Observation } from '../sources/published.js';
import { type InvocationHeaders } from '../stream-log/envelopes.js';
import { type StreamLog } from '../stream-log/stream-log.js';
import { type TopicPolicy } from '../stream-log/topics.js';
import { type UnreadLimits } from '../stream-log/unread-limits.js';
import { type ResponseRelay } from './response-relay.js';

export interface ManualRunsDependencies {
  readonly log: StreamLog;
  readonly topics: TopicPolicy;
  readonly relay: ResponseRelay;
  readonly unread?: Pick<UnreadLimits, 'refusal'>;
  readonly clock: Clock;
  /** How long a caller with `wait` waits: the run's time limit plus a margin. */
  readonly timeoutMs: number;
  /** JSON text of the event for a run without one: the event of the source's timer, else `{}`. */
  readonly defaultEvent: (sourceId: string) => string;
}

export interface ManualRunResult {
  readonly invocationId: string;
  readonly observations?: readonly Observation[];
}

/** Publishes manual runs, which take the path of all invocations (docs/reference/component-model.md#manual-run). */
export const manualRuns = (deps: ManualRunsDependencies) => ({
  async run(sourceId: string, workspaceId: string, event: unknown, wait: boolean): Promise<ManualRunResult> {
    const unread = deps.unread?.refusal(sourceId, workspaceId);
    if (unread) throw new DomainError('source.unread_limit', unread.text, { retry_after: unread.retryAfterS });
    const now = deps.clock.now();
    const invocationId = newId('inv', now);
    const headers: InvocationHeaders = {
      id: invocationId,
      kind: 'manual',
      source: sourceId,
      workspace: workspaceId,
      at: String(now),
      hops: '0',
      prop: '',
      respond: wait ? deps.relay.address : '',
    };
    const value = event === undefined ? deps.defaultEvent(sourceId) : JSON.stringify(event);
    const ended = wait ? deps.relay.expectOutcome(invocationId, deps.timeoutMs) : undefined;
    let offset: number | null | undefined;
    try {
      [offset] = await deps.log.publish([{ topic: deps.topics.invocations(sourceId), key: sourceId, headers, value }]);
    } catch (error) {
      deps.relay.cancel(invocationId);
      throw error;
    }
    if (offset === null || offset === undefined) {
      deps.relay.cancel(invocationId);
      throw new DomainError('source.not_found', `source ${sourceId} was deleted`);
    }
    if (!ended) return { invocationId };
    const outcome = await ended;
    // No outcome yet: the invocation waits in the lane behind other runs, and will still run.
    return outcome ? { invocationId, observations: observationsOf(outcome) } : { invocationId, observations: [] };
  },
});

const observationsOf = ({ logs, error, endedAt }: RunOutcome): readonly Observation[] => {
  if (!error) return logs;
  const { name, message, stack } = error;
  return [...logs, { k: 'error', ts: endedAt, err: { name, message, stack } }];
};
