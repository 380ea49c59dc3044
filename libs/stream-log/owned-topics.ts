import { type StreamLog } from './stream-log.js';
import { type TopicPolicy } from './topics.js';

type Owners = Pick<TopicPolicy, 'ownedBy'>;

/** Creates the topics of one source, workflow, webhook or workspace. Resolves when they take records. Idempotent. */
export const createOwnedTopics = async (
  log: Pick<StreamLog, 'createTopic'>,
  topics: Owners,
  ownerId: string,
): Promise<void> => {
  for (const { topic, retention, partitions } of topics.ownedBy(ownerId))
    await log.createTopic(topic, retention, partitions);
};

/** Deletes them with their records, and revokes their lanes. Idempotent. */
export const deleteOwnedTopics = async (
  log: Pick<StreamLog, 'deleteTopic'>,
  topics: Owners,
  ownerId: string,
): Promise<void> => {
  for (const { topic } of topics.ownedBy(ownerId)) await log.deleteTopic(topic);
};
