import { createOwnedTopics, deleteOwnedTopics } from '#libs/stream-log/owned-topics.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type DueStore } from '#libs/due/due-store.js';

/** A webhook's topics in the log and entries in the due store. Both calls are idempotent. */
export const webhookTopics = (log: StreamLog, topics: TopicPolicy, due: Pick<DueStore, 'removeOwner'>) => ({
  create: (webhookId: string): Promise<void> => createOwnedTopics(log, topics, webhookId),
  async remove(webhookId: string) {
    await deleteOwnedTopics(log, topics, webhookId);
    await due.removeOwner(webhookId);
  },
});
