import { endsWithin } from '#libs/async/deadline.js';
import { packAttempts } from '#libs/stream-log/attempt-records.js';
import { type LaneBatch } from '#libs/stream-log/stream-log.js';
import { HandedOver } from '#libs/stream-log/handed-over.js';
import { DELIVERIES } from '#libs/stream-log/topics.js';
import { Deliverer } from './deliverer.js';
import { DeliveryPressure } from './delivery-pressure.js';
import { type DueEntry } from '#libs/due/due-store.js';
import { OutcomeWriter } from './outcome-writer.js';
import { DEFAULT_WEBHOOK_SETTINGS, type WebhookWorkerOptions } from './webhook-settings.js';

export type { WebhookWorkerOptions };

export interface WebhookWorker {
  /** Counts the deliveries that wait for healthy endpoints, for back-pressure on ingress. */
  readonly pressure: DeliveryPressure;
  /** Counts deliveries handed over and not yet acknowledged. */
  readonly handedOver: HandedOver;
  inFlight(): number;
  unreadBytesOf(lane: string): number;
  /** Returns a later time for a due delivery that would only be put off again. */
  postpone(entry: DueEntry): number | undefined;
  /**
   * Reads no more deliveries, waits up to `closeMs` for those in flight, aborts the rest and writes the results. The
   * log redelivers unfinished deliveries, with the same ids. Idempotent.
   */
  close(): Promise<void>;
}

/**
 * Delivers the records of the delivery topics at least once (docs/architecture.md, step 5 of the path of an event).
 * Acknowledges a delivery once its result is durable, and its next attempt if there is one.
 */
export const startWebhookWorker = async (options: WebhookWorkerOptions): Promise<WebhookWorker> => {
  const { log, due, clock, logger, tables, metrics } = options;
  const settings = { ...DEFAULT_WEBHOOK_SETTINGS, ...options.settings };
  const random = options.random ?? Math.random;
  const onFailure = (): void => metrics?.onWriteFailure?.();

  // 1. The writer of results.
  const outcomes = new OutcomeWriter({ log, due, logger, onFailure, pack: packAttempts, what: 'attempts' });
  const deliverer = new Deliverer({ ...options, settings, random, outcomes });

  // 2. The lanes.
  const handedOver = new HandedOver(Infinity);
  const consumer = await log.consume(
    handedOver.counting({
      group: settings.group,
      topics: { prefix: DELIVERIES },
      maxBatch: settings.maxBatch,
      maxUnacked: settings.maxUnacked,
      async handler(batch: LaneBatch) {
        if (await tables.holdAnswered(() => batch.revoked())) await deliverer.admitBatch(batch);
      },
      onRevoked: (lane) => deliverer.drain(lane, settings.revokeMs),
    }),
  );

  // 3. Shutdown, in reverse order. Each step is bounded, so an engine that hangs does not block the process.
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await deliverer.finish(settings.closeMs);
    await endsWithin(outcomes.idle(), settings.closeMs);
    outcomes.abandon();
    deliverer.release();
    await consumer.close();
  };
  return {
    pressure: new DeliveryPressure(() => deliverer.healthyLanes(), consumer, handedOver, clock),
    handedOver,
    inFlight: () => deliverer.inFlight,
    unreadBytesOf: (lane) => consumer.unreadBytesOf(lane),
    postpone: (entry) => deliverer.postpone(entry),
    close: () => (closing ??= close()),
  };
};
