/** What this context asks of the others; the composition root answers it. */

/** Over the stream log. Both idempotent. */
export interface WebhookTopics {
  create(webhookId: string): Promise<void>;
  /** Topics, retries that wait: all that the data plane holds of the webhook. */
  remove(webhookId: string): Promise<void>;
}
export const WEBHOOK_TOPICS = Symbol('WebhookTopics');

/** Payloads of events that are still retained. */
export interface RetainedEvents {
  /** JSON text, exactly as it was emitted; undefined when it is gone. */
  payloadOf(emitterId: string, channel: string, eventId: string): Promise<string | undefined>;
}
export const RETAINED_EVENTS = Symbol('RetainedEvents');
