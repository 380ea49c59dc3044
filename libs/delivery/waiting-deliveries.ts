import { type DueStore } from '#libs/due/due-store.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { DEFAULT_WEBHOOK_SETTINGS } from './webhook-settings.js';

/**
 * Counts the deliveries of webhooks that are not ended: those in the log, and those that wait for their next attempt.
 * Where webhooks share their lanes, only the latter are counted, because a lane does not know whose its records are.
 */
export const waitingDeliveries = (
  log: Pick<StreamLog, 'lag'>,
  due: Pick<DueStore, 'countsOf'>,
  topics: Pick<TopicPolicy, 'deliveries' | 'ownedBy'>,
) => ({
  async of(webhookIds: readonly string[]): Promise<readonly number[]> {
    const names = webhookIds.flatMap((id) => (topics.ownedBy(id).length > 0 ? [topics.deliveries(id)] : []));
    const lag = names.length === 0 ? {} : await log.lag(DEFAULT_WEBHOOK_SETTINGS.group, { names });
    const counts = await due.countsOf(webhookIds);
    return webhookIds.map((id, i) => (counts[i] ?? 0) + (lag[topics.deliveries(id)] ?? 0));
  },
});
