import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type RetrySchedule } from './retry-schedule.js';

/** What a webhook has in the log and in the schedule of retries. Both repeats are harmless. */
export const webhookTopics = (log: StreamLog, topics: TopicPolicy, schedule: RetrySchedule) => ({
  async create(webhookId: string) {
    for (const { topic, retention } of topics.ownedBy(webhookId)) await log.createTopic(topic, retention);
  },
  async remove(webhookId: string) {
    for (const { topic } of topics.ownedBy(webhookId)) await log.deleteTopic(topic);
    await schedule.removeOwner(webhookId);
  },
});
