import { type Attempt, type RecordedOutcome, type AttemptValue } from '#libs/stream-log/attempt-records.js';
import { type DeliveryHeaders } from '#libs/stream-log/envelopes.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { type ScheduledRetry } from './retry-schedule.js';

/** A delivery as read from its topic. `defers` counts how often it was put off without an attempt. */
export interface Delivery {
  readonly headers: DeliveryHeaders;
  readonly body: string;
  readonly attempt: number;
  readonly defers: number;
  /** Epoch milliseconds of the emit's arrival at the router. */
  readonly at: number;
}

const DEFERS = 'defers';

/** Returns undefined for a record that is not a delivery. */
export const readDelivery = (record: LogRecord): Delivery | undefined => {
  const headers = record.headers as DeliveryHeaders;
  const attempt = Number(headers.attempt ?? '1');
  if (!headers.id || !headers.webhook || !Number.isSafeInteger(attempt) || attempt < 1) return undefined;
  return {
    headers,
    body: record.value,
    attempt,
    defers: Number(record.headers[DEFERS] ?? '0'),
    at: Number(headers.at ?? '0'),
  };
};

/** The attempt at a delivery that is now known. */
export const attemptOf = (
  topic: string,
  { headers, attempt }: Delivery,
  outcome: RecordedOutcome,
  value: AttemptValue,
): Attempt => ({
  topic,
  key: headers.webhook,
  delivery: headers.id,
  attempt,
  outcome,
  workspace: headers.workspace,
  emitter: headers.emitter,
  channel: headers.channel,
  emit: headers.emit,
  event: headers.event,
  value,
});

const waitingEntry = (
  delivery: Delivery,
  topic: string,
  attempt: number,
  defers: number,
  dueAt: number,
): ScheduledRetry => {
  const { headers, body } = delivery;
  return {
    // Each entry has its own id, because the pump removes it after publishing the record. By then the record may have
    // failed again and have a new entry.
    id: `${headers.id}/${attempt}.${defers}`,
    owner: headers.webhook,
    dueAt,
    record: {
      topic,
      key: headers.webhook,
      headers: { ...headers, attempt: String(attempt), [DEFERS]: String(defers) },
      value: body,
    },
  };
};

/** Schedules the next attempt. */
export const nextAttempt = (delivery: Delivery, topic: string, dueAt: number): ScheduledRetry =>
  waitingEntry(delivery, topic, delivery.attempt + 1, 0, dueAt);

/** Schedules the same attempt for later. */
export const deferred = (delivery: Delivery, topic: string, dueAt: number): ScheduledRetry =>
  waitingEntry(delivery, topic, delivery.attempt, delivery.defers + 1, dueAt);
