import { endsWithin } from '#libs/async/deadline.js';
import { type LaneBatch } from '#libs/stream-log/stream-log.js';
import { HandedOver } from '#libs/stream-log/handed-over.js';
import { DELIVERIES } from '#libs/stream-log/topics.js';
import { Deliverer } from './deliverer.js';
import { DeliveryPressure } from './delivery-pressure.js';
import { RetryPump } from './retry-pump.js';
import { OutcomeWriter } from './outcome-writer.js';
import { DEFAULT_WEBHOOK_SETTINGS, type WebhookWorkerOptions } from './webhook-settings.js';

export type { WebhookWorkerOptions };

export interface WebhookWorker {
  /** Deliveries that wait for healthy endpoints; source of back-pressure on ingress. */
  readonly pressure: DeliveryPressure;
  /** Counts deliveries handed over and not yet acknowledged. */
  readonly handedOver: HandedOver;
  inFlight(): number;
  unreadBytesOf(lane: string): number;
  /**
   * Takes no more deliveries, waits up to `closeMs` for those in flight, aborts the rest and writes the results.
   * Unfinished deliveries are redelivered later, with the same ids. Idempotent.
   */
  close(): Promise<void>;
}

/**
 * Delivers the records of the delivery topics (docs/architecture.md, step 5 of the path of an event), at least once. A
 * delivery is acknowledged only when its result is durable, and its next attempt if there is one.
 */
export const startWebhookWorker = async (options: WebhookWorkerOptions): Promise<WebhookWorker> => {
  const { log, schedule, clock, logger, topics, tables, metrics } = options;
  const settings = { ...DEFAULT_WEBHOOK_SETTINGS, ...options.settings };
  const random = options.random ?? Math.random;
  const onFailure = (): void => metrics?.onWriteFailure?.();

  // 1. The writer of results and the retry pump.
  const outcomes = new OutcomeWriter({
    log,
    schedule,
    logger,
    onFailure,
    onScheduled: (dueAt) => pump?.expect(dueAt),
  });
  const deliverer = new Deliverer({ ...options, settings, random, outcomes });
  const pump =
    options.pump === 'elsewhere'
      ? undefined
      : new RetryPump({
          log,
          schedule,
          topics,
          clock,
          logger,
          onFailure,
          pollMs: settings.pollMs,
          postpone: (entry) => deliverer.postpone(entry),
        });

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
  pump?.start();

  // 3. Shutdown, in reverse order. Each step is bounded, so an engine that hangs does not block the process.
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    if (pump) await endsWithin(pump.close(), settings.closeMs);
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
    close: () => (closing ??= close()),
  };
};
