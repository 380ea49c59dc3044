import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type TypeOf } from '#libs/http/reply-schema.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { newId } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { CLOCK, READ_MODELS } from '#libs/kernel/tokens.js';
import { emitIds } from '#libs/stream-log/emit-ids.js';
import { bytesAbove, EVENT_BYTES } from '#libs/stream-log/record-limits.js';
import { attemptReply, type TestDelivery } from '../attempt-reply.js';
import { findWebhook } from '../find-webhook.js';
import { TEST_ATTEMPTS, type TestAttempts } from '../ports.js';

/** What is sent without a payload. */
const PAYLOAD = { test: true };

export class TestWebhook extends Command<TypeOf<typeof TestDelivery>> {
  constructor(
    readonly webhookId: string,
    readonly workspaceIds: readonly string[],
    readonly channel: string,
    /** Undefined for the usual one. */
    readonly payload: unknown,
  ) {
    super();
  }
}

/**
 * Sends a test to a webhook, also to an inactive one, and tells what came of it. Nothing is stored. Throws
 * webhook.not_found and request.too_large.
 */
@CommandHandler(TestWebhook)
export class TestWebhookHandler implements ICommandHandler<TestWebhook> {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(TEST_ATTEMPTS) private readonly attempts: TestAttempts,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ webhookId, workspaceIds, channel, payload }: TestWebhook): Promise<TypeOf<typeof TestDelivery>> {
    const { workspaceId } = await findWebhook(this.readModels, workspaceIds, webhookId);
    const body = JSON.stringify(payload === undefined ? PAYLOAD : payload);
    const actual = bytesAbove(body, EVENT_BYTES);
    if (actual !== undefined) {
      const message = `parameter payload has ${actual} bytes, the limit is ${EVENT_BYTES}: send less`;
      throw new DomainError('request.too_large', message, { field: 'payload', limit: EVENT_BYTES, actual });
    }
    const now = this.clock.now();
    const delivery = newId('dlv', now);
    const emit = emitIds(delivery, now)(0);
    const sent = { delivery, webhook: webhookId, emitter: workspaceId, emit, channel, body };
    const result = await this.attempts.send(sent);
    if (!result) {
      const message = `webhook ${webhookId} was deleted`;
      throw new DomainError('webhook.not_found', message, { id: webhookId });
    }
    return {
      ...attemptReply({
        deliveryId: delivery,
        attempt: 1,
        outcome: result.error === null ? 'success' : 'final',
        emitId: emit,
        eventId: `${now}-0`,
        emitterId: workspaceId,
        channel,
        nextAttemptAt: null,
        ...result,
      }),
      test: true,
    };
  }
}
