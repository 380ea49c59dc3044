import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type DueStore } from '#libs/due/due-store.js';

/** A webhook's topics in the log and entries in the due store. Both calls are idempotent. */
export const webhookTopics = (log: StreamLog, topics: TopicPolicy, due: Pick<DueStore, 'removeOwner'>) => ({
  async create(webhookId: string) {
    for (const { topic, retention } of topics.ownedBy(webhookId)) await log.createTopic(topic, retention);
  },
  async remove(webhookId: string) {
    for (const { topic } of topics.ownedBy(webhookId)) await log.deleteTopic(topic);
    await due.removeOwner(webhookId);
  },
});
