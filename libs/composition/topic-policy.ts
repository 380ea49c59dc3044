import { pause } from '#libs/async/pause.js';
import { type RetrySchedule } from '#libs/delivery/retry-schedule.js';
import { type Config } from '#libs/config/index.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { Faults } from '#libs/kernel/faults.js';
import { type RunningWork } from '#libs/kernel/leased-work.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { perEmitterTopics, sharedTopics, type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Logger } from '#libs/telemetry/index.js';
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

/** Longer than a topic takes to become known to all brokers. */
const LOOK_MS = 10_000;

/**
 * Looks for the topics that exist from the start, and creates those that somebody deleted, which is said once. Their
 * records are lost. Never rejects.
 */
export const keepFixedTopics = (
  log: Pick<StreamLog, 'lanes' | 'createTopic'>,
  topics: Pick<TopicPolicy, 'fixed'>,
  logger: Pick<Logger, 'error'>,
  everyMs = LOOK_MS,
): RunningWork => {
  const abort = new AbortController();
  const faults = new Faults({ say: (text, fields) => logger.error(fields, text) });
  const look = async (): Promise<void> => {
    for (const { topic, retention, partitions } of topics.fixed()) {
      if ((await log.lanes(topic)).length > 0) continue;
      faults.met(topic, 'topic.gone: a topic was deleted, with its records, and is made anew', { topic });
      await log.createTopic(topic, retention, partitions);
    }
  };
  const run = async (): Promise<void> => {
    for (;;) {
      await pause(everyMs, abort.signal);
      if (abort.signal.aborted) return;
      try {
        await look();
        faults.over(UNKNOWN);
      } catch (error) {
        faults.met(UNKNOWN, 'topics.unknown: the topics that every role needs cannot be looked for', {
          error: messageOf(error),
        });
      }
    }
  };
  const running = run();
  return {
    async stop() {
      abort.abort();
      faults.close();
      await running;
    },
  };
};

const UNKNOWN = '';

export const webhookTopics = (log: StreamLog, topics: TopicPolicy, schedule: RetrySchedule): WebhookTopics => ({
  async create(webhookId) {
    for (const { topic, retention } of topics.ownedBy(webhookId)) await log.createTopic(topic, retention);
  },
  async remove(webhookId) {
    for (const { topic } of topics.ownedBy(webhookId)) await log.deleteTopic(topic);
    await schedule.removeOwner(webhookId);
  },
});
