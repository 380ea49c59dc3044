import { type Attempt, type RecordedOutcome, type AttemptValue } from '#libs/stream-log/attempt-records.js';
import { type DeliveryHeaders, deliveryHeaders } from '#libs/stream-log/envelopes.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { type DueEntry } from '#libs/due/due-store.js';

/** A delivery as read from its topic. `defers` counts how often it was put off without an attempt. */
export interface Delivery {
  readonly headers: DeliveryHeaders;
  readonly body: string;
  readonly attempt: number;
  readonly defers: number;
  /** Epoch milliseconds of the emit's arrival at the router. */
  readonly at: number;
  /** The entry of the due store that the record came from. It is removed once this delivery has ended. */
  readonly entry?: string | undefined;
  /** Whether the log has an earlier record of the entry, which may have ended the delivery in the meantime. */
  readonly isAgain?: boolean;
}

/** Whether the entry of a record is out, so that the due store counts it too. */
export const isOut = (record: Pick<LogRecord, 'headers'>): boolean => deliveryHeaders(record).entry !== undefined;

/** Returns undefined for a record that is not a delivery. */
export const readDelivery = (record: LogRecord): Delivery | undefined => {
  const headers = deliveryHeaders(record);
  const attempt = Number(headers.attempt);
  if (!headers.id || !headers.webhook || !Number.isSafeInteger(attempt) || attempt < 1) return undefined;
  return {
    headers,
    body: record.value,
    attempt,
    defers: Number(headers.defers ?? '0'),
    at: Number(headers.at),
    entry: headers.entry,
    isAgain: headers.again !== undefined,
  };
};

/** Makes the record of a finished attempt. */
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

const waitingEntry = (delivery: Delivery, attempt: number, defers: number, dueAt: number): DueEntry => {
  const { headers: all, body } = delivery;
  const { entry: _entry, again: _again, ...headers } = all;
  return {
    // Each entry has its own id, because it is removed after the delivery's next entry is durable.
    id: `${headers.id}/${attempt}.${defers}`,
    owner: headers.webhook,
    kind: 'delivery',
    dueAt,
    record: {
      key: headers.webhook,
      headers: { ...headers, attempt: String(attempt), defers: String(defers) },
      value: body,
    },
  };
};

/** Schedules the next attempt. */
export const nextAttempt = (delivery: Delivery, dueAt: number): DueEntry =>
  waitingEntry(delivery, delivery.attempt + 1, 0, dueAt);

/** Schedules the same attempt for later. */
export const deferred = (delivery: Delivery, dueAt: number): DueEntry =>
  waitingEntry(delivery, delivery.attempt, delivery.defers + 1, dueAt);
