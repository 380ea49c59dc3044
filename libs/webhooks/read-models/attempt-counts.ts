import { type Doc } from '#libs/kernel/read-model-store.js';
import { type Attempt, type StoredCounts } from '#libs/stream-log/attempt-records.js';

/** What one process counted of a webhook's deliveries, among its attempts in their read model. */
export interface AttemptCountsDoc extends Doc {
  /** Key of the counts of a webhook, which is no id of a webhook. */
  readonly webhookId: string;
  readonly deliveryId: string;
  /** Not the workspace's id: its attempts are found by that. */
  readonly workspaceId: string;
  readonly sort: string;
  /** As the newest record of the process has them (stream-log/hour-counts.ts). */
  readonly counts: string;
}

export const countsOfWebhook = (webhookId: string): string => `counts/${webhookId}`;

export const attemptCountsDoc = ({ key, value }: Attempt, { epoch, counts }: StoredCounts): AttemptCountsDoc => {
  const of = countsOfWebhook(key);
  const sort = `${String(Math.floor(value.ts)).padStart(15, '0')}-${epoch}`;
  return { id: `${of}/${epoch}`, webhookId: of, deliveryId: of, workspaceId: of, sort, counts };
};
