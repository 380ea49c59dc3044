import { type Config } from '#libs/config/index.js';
import { perEmitterTopics, sharedTopics, type TopicPolicy } from '#libs/stream-log/topics.js';

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
