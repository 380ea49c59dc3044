/** Ports of this context, which the composition root implements. */
import { type AttemptValue } from '#libs/stream-log/attempt-records.js';

/** Topics of webhooks in the stream log. Both methods are idempotent. */
export interface WebhookTopics {
  create(webhookId: string): Promise<void>;
  /** Removes all state of the webhook in the data plane, such as topics and waiting retries. */
  remove(webhookId: string): Promise<void>;
}
export const WEBHOOK_TOPICS = Symbol('WebhookTopics');

/** Deliveries that are not ended: those in the log, and those that wait for their next attempt. */
export interface WaitingDeliveries {
  /** Resolves with their numbers, in the order of the ids. */
  of(webhookIds: readonly string[]): Promise<readonly number[]>;
}
export const WAITING_DELIVERIES = Symbol('WaitingDeliveries');

/** Payloads of events that are still retained. */
export interface RetainedEvents {
  /** Returns the JSON text exactly as emitted; undefined when the event is no longer retained. */
  payloadOf(emitterId: string, channel: string, eventId: string): Promise<string | undefined>;
}
export const RETAINED_EVENTS = Symbol('RetainedEvents');

/** An attempt as its receiver is told of it. */
export interface AttemptIdentity {
  readonly delivery: string;
  readonly webhook: string;
  readonly emitter: string;
  readonly emit: string;
  readonly channel: string;
  readonly attempt: number;
}

/** Headers of the requests to webhooks. */
export interface DeliveryRequests {
  /** The headers of an attempt at a time in epoch milliseconds, without its signatures. */
  headersOf(identity: AttemptIdentity, at: number): Readonly<Record<string, string>>;
}
export const DELIVERY_REQUESTS = Symbol('DeliveryRequests');

/** An event that is sent to a webhook as a test. */
export interface SentTest extends Omit<AttemptIdentity, 'attempt'> {
  /** JSON text. */
  readonly body: string;
}

/** Single attempts at webhooks, which no retry follows. */
export interface TestAttempts {
  /** Resolves with what came of it; undefined for a webhook that is not known any more. */
  send(test: SentTest): Promise<Omit<AttemptValue, 'nextAttemptAt'> | undefined>;
}
export const TEST_ATTEMPTS = Symbol('TestAttempts');

/** Addresses that the deliveries of this server may reach. */
export interface DeliveryReach {
  /** Reason why a connection to this host of a URL will be refused, as far as its text shows. Looks up no name. */
  refusalOf(host: string): string | undefined;
}
export const DELIVERY_REACH = Symbol('DeliveryReach');
