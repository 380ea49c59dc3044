import { type Clock } from '#libs/kernel/clock.js';
import { type LaneBatch } from '#libs/stream-log/stream-log.js';
import { type Attempt } from '#libs/stream-log/attempt-records.js';
import { type DueEntry } from '#libs/due/due-store.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { attemptOf, deferred, nextAttempt, type Delivery } from './delivery-records.js';
import { type DeliveryCounts } from './delivery-counts.js';
import { type EventOrder } from './event-order.js';
import { type AttemptResult } from './http-attempt.js';
import { type LaneWork } from './lane-work.js';
import { decideRetry, withMaxAttempts, type AttemptOutcome, type RetryDecision } from './retry-policy.js';
import { type OutcomeWriter } from './outcome-writer.js';
import { type WebhookTarget } from './webhook-directory.js';
import { type WebhookMetrics, type WebhookWorkerSettings } from './webhook-settings.js';

/** A delivery of a lane, from its claim until its record is acknowledged. */
export interface Claimed {
  readonly batch: LaneBatch;
  readonly work: LaneWork;
  readonly offset: number;
  readonly delivery: Delivery;
}

export interface Attempted {
  readonly target: WebhookTarget;
  readonly result: AttemptResult;
  readonly outcome: AttemptOutcome;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface OutcomeRecorderOptions {
  readonly topics: TopicPolicy;
  readonly settings: Pick<WebhookWorkerSettings, 'retries'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly metrics?: WebhookMetrics;
  readonly outcomes: Pick<OutcomeWriter<Attempt>, 'push'>;
  readonly order: Pick<EventOrder, 'waits' | 'ended'>;
  readonly counts: Pick<DeliveryCounts, 'with'>;
}

const MAX_ERROR = 500;

/** Records the outcomes of deliveries. A delivery is acknowledged once its outcome is durable. */
export class OutcomeRecorder {
  constructor(private readonly options: OutcomeRecorderOptions) {}

  /** Records an attempt and schedules the next one, if there is one. */
  attempted(claimed: Claimed, { target, result, outcome, startedAt, endedAt }: Attempted): RetryDecision {
    const { random, settings, metrics, topics } = this.options;
    const { delivery } = claimed;
    const retries =
      target.maxAttempts === undefined ? settings.retries : withMaxAttempts(settings.retries, target.maxAttempts);
    const decision = decideRetry(outcome, delivery.attempt, retries, random(), endedAt);
    const nextAttemptAt = decision.kind === 'retry' ? endedAt + decision.delayMs : null;
    const recorded = decision.kind === 'disable' ? 'final' : decision.kind;
    metrics?.onAttempt?.(recorded, result.status, result.ms, delivery.headers.workspace);
    const value = {
      ts: startedAt,
      ms: Math.round(result.ms),
      status: result.status,
      error: errorText(result, decision),
      nextAttemptAt,
      responseSnippet: result.snippet,
      ...(result.headers === undefined ? {} : { responseHeaders: result.headers }),
    };
    const attempt = this.counted(claimed, attemptOf(topics.attempts(), delivery, recorded, value), endedAt);
    const waiting = nextAttemptAt === null ? undefined : nextAttempt(delivery, nextAttemptAt);
    this.record(claimed, attempt, waiting);
    return decision;
  }

  /** Schedules a delivery for a later time, without an attempt. */
  putOff(claimed: Claimed, dueAt: number): void {
    const { delivery } = claimed;
    this.options.metrics?.onDeferred?.(1);
    this.record(claimed, undefined, deferred(delivery, dueAt));
  }

  /** Ends a delivery without a request, with an entry in the list of attempts that says why. */
  drop(claimed: Claimed, error: string): void {
    const { clock, metrics, topics } = this.options;
    metrics?.onDropped?.();
    const now = clock.now();
    const value = { ts: now, ms: 0, status: null, error, nextAttemptAt: null, responseSnippet: '' };
    const attempt = attemptOf(topics.attempts(), claimed.delivery, 'final', value);
    this.record(claimed, this.counted(claimed, attempt, now), undefined);
  }

  /**
   * Ends a delivery without an entry in the list of attempts. Only the newest entries are kept, so entries for an
   * inactive webhook would push out the one that says why it is inactive.
   */
  skip(claimed: Claimed): void {
    this.options.metrics?.onDropped?.();
    this.record(claimed, undefined, undefined);
  }

  /** Acknowledges a record whose delivery another record of the lane carries out. */
  repeated({ batch, work, offset, delivery }: Claimed): void {
    this.options.outcomes.push({
      waiting: undefined,
      attempt: undefined,
      entry: delivery.entry,
      durable: () => {
        if (!work.gone) batch.ack(offset);
      },
    });
  }

  /** Another worker counts an attempt that it makes again. */
  private counted({ work }: Claimed, attempt: Attempt, at: number): Attempt {
    if (work.gone) return attempt;
    if (attempt.outcome === 'final') this.options.metrics?.onFailed?.(attempt.workspace);
    return { ...attempt, counts: this.options.counts.with(attempt.key, attempt.outcome, at) };
  }

  private record(
    { batch, work, offset, delivery }: Claimed,
    attempt: Attempt | undefined,
    waiting: DueEntry | undefined,
  ): void {
    // Another worker owns the lane now.
    if (work.gone) return work.left(delivery.headers.id);
    if (waiting) this.options.order.waits(delivery, waiting.dueAt);
    else this.options.order.ended(delivery);
    this.options.outcomes.push({
      waiting,
      attempt,
      entry: delivery.entry,
      durable: () => {
        if (!work.gone) batch.ack(offset);
        work.recorded(delivery.headers.id);
      },
    });
  }
}

const errorText = (result: AttemptResult, decision: RetryDecision): string | null => {
  if (decision.kind === 'success') return null;
  if (decision.kind === 'retry' || result.status === null) return attemptError(result);
  return decision.reason.slice(0, MAX_ERROR);
};

/** What went wrong in an attempt that was no success. */
export const attemptError = ({ status, error, message }: AttemptResult): string => {
  const detail = message === '' || message === error ? '' : `: ${message}`;
  return (status === null ? `${error ?? 'NO_ANSWER'}${detail}` : `status ${status}`).slice(0, MAX_ERROR);
};
