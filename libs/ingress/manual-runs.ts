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
  /** How long a caller that waits does so: the run's limit and a little. */
  readonly timeoutMs: number;
  /** JSON text of the event of a run that was given none: what the source's timer would send, else `{}`. */
  readonly defaultEvent: (sourceId: string) => string;
}

export interface ManualRunResult {
  readonly invocationId: string;
  readonly observations?: readonly Observation[];
}

/** Invocations that a person asks for (decisions.md 1.5, "Manual run"). They take the same path as all others. */
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
    // Still waiting in the lane, behind other runs: it will run all the same.
    return outcome ? { invocationId, observations: observationsOf(outcome) } : { invocationId, observations: [] };
  },
});

const observationsOf = ({ logs, error, endedAt }: RunOutcome): readonly Observation[] => {
  if (!error) return logs;
  const { name, message, stack } = error;
  return [...logs, { k: 'error', ts: endedAt, err: { name, message, stack } }];
};
