import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { DomainError } from '#libs/kernel/domain-error.js';
import { isIdOf, shownId } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { findWebhook } from '../find-webhook.js';
import { DELIVERY_REQUESTS, type DeliveryRequests, RETAINED_EVENTS, type RetainedEvents } from '../ports.js';
import { type AttemptDoc, deliveryAttempts, RETAINED_ATTEMPTS } from '../read-models/attempts.projection.js';

export interface FoundDelivery {
  readonly last: AttemptDoc;
  /** Oldest first, `last` included. */
  readonly attempts: readonly AttemptDoc[];
  readonly url: string;
  /** Without signatures. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. Undefined when the event is no longer kept. */
  readonly body: string | undefined;
}

/** A delivery among the last attempts of a webhook. Throws webhook.not_found or delivery.not_found. */
export class GetDelivery extends Query<FoundDelivery> {
  constructor(
    readonly webhookId: string,
    readonly deliveryId: string,
    readonly workspaceIds: readonly string[],
  ) {
    super();
  }
}

@QueryHandler(GetDelivery)
export class GetDeliveryHandler implements IQueryHandler<GetDelivery> {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(RETAINED_EVENTS) private readonly events: RetainedEvents,
    @Inject(DELIVERY_REQUESTS) private readonly requests: DeliveryRequests,
  ) {}

  async execute({ webhookId, deliveryId, workspaceIds }: GetDelivery): Promise<FoundDelivery> {
    const { url } = await findWebhook(this.readModels, workspaceIds, webhookId);
    const [last, ...before] = isIdOf('dlv', deliveryId) ? await this.attemptsOf(webhookId, deliveryId) : [];
    if (!last) {
      const id = shownId(deliveryId);
      const message = `webhook ${webhookId} has no delivery ${id} among its last attempts`;
      throw new DomainError('delivery.not_found', message, { id });
    }
    const { emitterId: emitter, channel, eventId, emitId: emit, attempt, ts } = last;
    const identity = { delivery: deliveryId, webhook: webhookId, emitter, emit, channel, attempt };
    return {
      last,
      attempts: [last, ...before].reverse(),
      url,
      headers: this.requests.headersOf(identity, ts),
      body: await this.events.payloadOf(emitter, channel, eventId),
    };
  }

  /** Newest first. */
  private async attemptsOf(webhookId: string, deliveryId: string): Promise<readonly AttemptDoc[]> {
    const query = { where: { deliveryId, webhookId }, limit: RETAINED_ATTEMPTS, withTotal: false };
    return (await this.readModels.page<AttemptDoc>(deliveryAttempts, query)).docs;
  }
}
