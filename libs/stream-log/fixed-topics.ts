import { pause } from '#libs/async/pause.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { Faults } from '#libs/kernel/faults.js';
import { type RunningWork } from '#libs/kernel/leased-work.js';
import { type StreamLog } from './stream-log.js';
import { type TopicPolicy } from './topics.js';

/** Creates the topics that exist from the start. Idempotent. */
export const createFixedTopics = async (log: StreamLog, topics: TopicPolicy): Promise<void> => {
  for (const { topic, retention, partitions } of topics.fixed()) await log.createTopic(topic, retention, partitions);
};

/** Longer than all brokers need to learn of a new topic. */
const LOOK_MS = 10_000;

/**
 * Checks the topics that exist from the start, and creates a deleted one again. Logs each such topic once, because its
 * records are lost. Never rejects.
 */
export const keepFixedTopics = (
  log: Pick<StreamLog, 'lanes' | 'createTopic'>,
  topics: Pick<TopicPolicy, 'fixed'>,
  logger: { error(fields: object, text: string): void },
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
