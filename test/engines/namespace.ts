import { Kafka, logLevel } from 'kafkajs';
import { MongoClient } from 'mongodb';

export interface Namespace {
  /** host:port pairs, separated by commas. */
  readonly kafka: string;
  /** Prefix of topics and groups. */
  readonly prefix: string;
  /** URL including the database in its path. */
  readonly mongo: string;
}

/** Removes a test installation's data from shared servers. Streams stay, because their prefix is never used again. */
export const removeNamespace = async ({ kafka, prefix, mongo }: Namespace): Promise<void> => {
  const admin = new Kafka({ clientId: 'test', brokers: kafka.split(','), logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
    if (topics.length > 0) await admin.deleteTopics({ topics });
    const { groups } = await admin.listGroups();
    const ids = groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(prefix));
    // A group whose last member was killed is not empty yet. The broker drops it later.
    await admin.deleteGroups(ids).catch((error: unknown) => {
      if (!/delet/i.test(String(error))) throw error;
    });
  } finally {
    await admin.disconnect();
  }
  const client = await MongoClient.connect(mongo);
  try {
    await client.db().dropDatabase();
  } finally {
    await client.close();
  }
};
