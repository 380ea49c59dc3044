import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { isIdOf, shownId } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { CLOCK, READ_MODELS } from '#libs/kernel/tokens.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { STREAM_LOG, TOPIC_POLICY } from '#libs/stream-log/tokens.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { findActiveWebhook } from '../find-webhook.js';
import { RETAINED_EVENTS, type RetainedEvents } from '../ports.js';
import { type AttemptDoc, deliveryAttempts } from '../read-models/attempts.projection.js';
import { redelivery } from './redelivery.js';

export class RedeliverDelivery extends Command<{ readonly deliveryId: string }> {
  constructor(
    readonly webhookId: string,
    readonly deliveryId: string,
    readonly workspaceIds: readonly string[],
  ) {
    super();
  }
}

/**
 * Publishes a delivery to its topic again, starting from attempt 1 and with its former ids. A receiver can recognise it
 * by `webhook-id`. Resolves when the record is durable. Throws webhook.not_found, webhook.inactive or delivery.not_found.
 */
@CommandHandler(RedeliverDelivery)
export class RedeliverDeliveryHandler implements ICommandHandler<RedeliverDelivery> {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(RETAINED_EVENTS) private readonly events: RetainedEvents,
    @Inject(STREAM_LOG) private readonly log: StreamLog,
    @Inject(TOPIC_POLICY) private readonly topics: TopicPolicy,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ webhookId, deliveryId, workspaceIds }: RedeliverDelivery): Promise<{ readonly deliveryId: string }> {
    await findActiveWebhook(this.readModels, workspaceIds, webhookId);
    if (!isIdOf('dlv', deliveryId)) throw notFound(deliveryId, `webhook ${webhookId} has no such delivery`);
    const where = { deliveryId, webhookId };
    const newest = { where, limit: 1, withTotal: false };
    const [attempt] = (await this.readModels.page<AttemptDoc>(deliveryAttempts, newest)).docs;
    if (!attempt)
      throw notFound(deliveryId, `webhook ${webhookId} has no delivery ${deliveryId} among its last attempts`);
    const { emitterId, channel, eventId } = attempt;
    const body = await this.events.payloadOf(emitterId, channel, eventId);
    if (body === undefined) {
      throw notFound(
        deliveryId,
        `delivery ${deliveryId} cannot be sent again: event ${eventId} of ${emitterId} is no longer kept`,
      );
    }
    await this.log.publish([redelivery(attempt, body, this.topics, this.clock)]);
    return { deliveryId };
  }
}

const notFound = (id: string, message: string): DomainError =>
  new DomainError('delivery.not_found', message, { id: shownId(id) });
