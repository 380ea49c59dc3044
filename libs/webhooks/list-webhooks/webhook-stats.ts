import { setImmediate as turn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { type Clock } from '#libs/kernel/clock.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { CLOCK, READ_MODELS } from '#libs/kernel/tokens.js';
import { countedInDay, countsIn } from '#libs/stream-log/hour-counts.js';
import { WAITING_DELIVERIES, type WaitingDeliveries } from '../ports.js';
import { type AttemptCountsDoc, countsOfWebhook } from '../read-models/attempt-counts.js';
import { type AttemptDoc, attemptSort, deliveryAttempts } from '../read-models/attempts.projection.js';

export interface WebhookStats {
  readonly delivered: number;
  readonly failed: number;
  /** Epoch milliseconds; null without one. */
  readonly lastAttemptAt: number | null;
  /** Whether the newest attempt failed, or a delivery was given up in 24 hours. */
  readonly isFailing: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Webhooks that are read in one turn of the event loop. */
const TOGETHER = 20;
/** Most processes that recorded attempts at a webhook in a day. */
const PROCESSES = 100;

/** What became of the deliveries of webhooks lately. */
@Injectable()
export class StatsOfWebhooks {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(WAITING_DELIVERIES) private readonly waitingDeliveries: WaitingDeliveries,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Resolves in the order of the ids. */
  async of(webhookIds: readonly string[]): Promise<readonly WebhookStats[]> {
    const now = this.clock.now();
    const stats: WebhookStats[] = [];
    for (let from = 0; from < webhookIds.length; from += TOGETHER) {
      if (from > 0) await turn();
      stats.push(...(await Promise.all(webhookIds.slice(from, from + TOGETHER).map((id) => this.ofOne(id, now)))));
    }
    return stats;
  }

  /** Deliveries that were not ended, in the order of the ids. */
  waiting(webhookIds: readonly string[]): Promise<readonly number[]> {
    return this.waitingDeliveries.of(webhookIds);
  }

  private async ofOne(webhookId: string, now: number): Promise<WebhookStats> {
    const counts = { where: { webhookId: countsOfWebhook(webhookId) }, from: attemptSort(now - DAY_MS, '') };
    const [{ docs }, newest] = await Promise.all([
      this.readModels.page<AttemptCountsDoc>(deliveryAttempts, { ...counts, limit: PROCESSES, withTotal: false }),
      this.readModels.page<AttemptDoc>(deliveryAttempts, { where: { webhookId }, limit: 1, withTotal: false }),
    ]);
    let [delivered, failed] = [0, 0];
    for (const { counts: text } of docs) {
      const { events, errors } = countedInDay(countsIn(text), now);
      delivered += events;
      failed += errors;
    }
    const [last] = newest.docs;
    const isFailing = failed > 0 || (last !== undefined && last.outcome !== 'success');
    return { delivered, failed, lastAttemptAt: last?.ts ?? null, isFailing };
  }
}
