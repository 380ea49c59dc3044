import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { CLOCK, READ_MODELS } from '#libs/kernel/tokens.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { STREAM_LOG, TOPIC_POLICY } from '#libs/stream-log/tokens.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { findActiveWebhook } from '../find-webhook.js';
import { RETAINED_EVENTS, type RetainedEvents } from '../ports.js';
import { type AttemptDoc, deliveryAttempts, RETAINED_ATTEMPTS } from '../read-models/attempts.projection.js';
import { redelivery } from '../redeliver-delivery/redelivery.js';

/** Selects the deliveries to send again. Times are epoch milliseconds of their last attempt, both included. */
export interface WhichDeliveries {
  readonly outcome: 'final' | 'success' | 'any';
  readonly since: number;
  readonly until: number;
}

export interface Redelivered {
  /** Deliveries that were queued again, oldest first. */
  readonly queued: readonly string[];
  /** Deliveries whose event is no longer kept. */
  readonly gone: readonly string[];
}

export class RedeliverDeliveries extends Command<Redelivered> {
  constructor(
    readonly webhookId: string,
    readonly which: WhichDeliveries,
    readonly workspaceIds: readonly string[],
  ) {
    super();
  }
}

/**
 * Publishes deliveries among the last attempts again, oldest first, except those with an attempt still to come.
 * Resolves when all are durable; none is when it rejects. Throws webhook.not_found,
 * webhook.inactive.
 */
@CommandHandler(RedeliverDeliveries)
export class RedeliverDeliveriesHandler implements ICommandHandler<RedeliverDeliveries> {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(RETAINED_EVENTS) private readonly events: RetainedEvents,
    @Inject(STREAM_LOG) private readonly log: StreamLog,
    @Inject(TOPIC_POLICY) private readonly topics: TopicPolicy,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ webhookId, which, workspaceIds }: RedeliverDeliveries): Promise<Redelivered> {
    await findActiveWebhook(this.readModels, workspaceIds, webhookId);
    const where = { webhookId };
    const retained = { where, limit: RETAINED_ATTEMPTS, withTotal: false };
    const { docs } = await this.readModels.page<AttemptDoc>(deliveryAttempts, retained);
    const queued: string[] = [];
    const gone: string[] = [];
    const records = [];
    for (const attempt of lastOfEach(docs).filter((each) => isWanted(each, which))) {
      const payload = await this.events.payloadOf(attempt.emitterId, attempt.channel, attempt.eventId);
      if (payload === undefined) gone.push(attempt.deliveryId);
      else {
        queued.push(attempt.deliveryId);
        records.push(redelivery(attempt, payload, this.topics, this.clock));
      }
    }
    if (records.length > 0) await this.log.publish(records);
    return { queued, gone };
  }
}

/** Last attempt of each delivery, oldest first, from attempts that are newest first. */
const lastOfEach = (newestFirst: readonly AttemptDoc[]): readonly AttemptDoc[] => {
  const last = new Map<string, AttemptDoc>();
  for (const attempt of newestFirst) if (!last.has(attempt.deliveryId)) last.set(attempt.deliveryId, attempt);
  return [...last.values()].reverse();
};

const isWanted = ({ outcome, ts }: AttemptDoc, which: WhichDeliveries): boolean =>
  outcome !== 'retry' &&
  (which.outcome === 'any' || outcome === which.outcome) &&
  ts >= which.since &&
  ts <= which.until;
