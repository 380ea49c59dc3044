import { type RetrySchedule } from '#libs/delivery/retry-schedule.js';
import { type Config } from '#libs/config/index.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { perEmitterTopics, sharedTopics, type TopicPolicy } from '#libs/stream-log/topics.js';
import { type WebhookTopics } from '#libs/webhooks/index.js';

export const topicPolicy = (config: Config): TopicPolicy => {
  const retention = {
    emitsAgeMs: config.emitsRetentionDays * 86_400_000,
    emitsBytes: config.emitsRetentionMb * 1024 * 1024,
    emails: config.smtpUrl !== null,
  };
  switch (config.topics) {
    case 'per_emitter':
      return perEmitterTopics(retention);
    case 'shared':
      return sharedTopics(retention, config.topicPartitions);
  }
};

/** Creates the topics that exist from the start. Idempotent. */
export const createFixedTopics = async (log: StreamLog, topics: TopicPolicy): Promise<void> => {
  for (const { topic, retention, partitions } of topics.fixed()) await log.createTopic(topic, retention, partitions);
};

export const webhookTopics = (log: StreamLog, topics: TopicPolicy, schedule: RetrySchedule): WebhookTopics => ({
  async create(webhookId) {
    for (const { topic, retention } of topics.ownedBy(webhookId)) await log.createTopic(topic, retention);
  },
  async remove(webhookId) {
    for (const { topic } of topics.ownedBy(webhookId)) await log.deleteTopic(topic);
    await schedule.removeOwner(webhookId);
  },
});
