import kafkajs, { type Admin } from 'kafkajs';

export interface Partition {
  /** -1 while it has none. */
  readonly leader: number;
  readonly replicas: readonly number[];
  readonly isr: readonly number[];
}

const PATIENCE_MS = 90_000;

/** Polls until the condition is true. Java may be slow on a busy machine. */
export const until = async (
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = PATIENCE_MS,
): Promise<void> => {
  for (const end = Date.now() + withinMs; !(await holds()); await new Promise((resolve) => setTimeout(resolve, 50))) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
  }
};

/** Reads and moves leaders and copies of topics with one partition, and coordinators. */
export class KafkaPartitions {
  private constructor(readonly admin: Admin) {}

  static async open(addresses: readonly string[]): Promise<KafkaPartitions> {
    const admin = new kafkajs.Kafka({ brokers: [...addresses], logLevel: 0 }).admin();
    await admin.connect();
    return new KafkaPartitions(admin);
  }

  close(): Promise<void> {
    return this.admin.disconnect();
  }

  async of(topic: string): Promise<Partition> {
    try {
      const { topics } = await this.admin.fetchTopicMetadata({ topics: [topic] });
      const partition = topics[0]?.partitions[0];
      if (!partition) throw new Error(`${topic} does not exist`);
      return partition;
    } catch (error) {
      // So this client reports that there is no leader.
      if (String(error).includes('no leader')) return { leader: -1, replicas: [], isr: [] };
      throw error;
    }
  }

  async leaderOf(topic: string): Promise<number> {
    return (await this.of(topic)).leader;
  }

  allInSync(topics: readonly string[]): Promise<void> {
    return until('every copy is in sync', async () => {
      const found = await Promise.all(topics.map((topic) => this.of(topic)));
      return found.every(({ isr, replicas, leader }) => isr.length === replicas.length && leader >= 0);
    });
  }

  /** Moves the copies of a topic to these brokers, of which the first leads by preference. */
  async reassign(topic: string, replicas: number[]): Promise<void> {
    const { admin } = this;
    await admin.alterPartitionReassignments({ topics: [{ topic, partitionAssignment: [{ partition: 0, replicas }] }] });
    await until(`${topic} has moved`, async () => {
      const { topics } = await admin.listPartitionReassignments({ topics: [{ topic, partitions: [0] }] });
      return topics.length === 0;
    });
  }

  /** The broker that leads the partition of the groups' offsets to which this group belongs. */
  async coordinatorOf(groupId: string): Promise<number> {
    const { topics } = await this.admin.fetchTopicMetadata({ topics: ['__consumer_offsets'] });
    const partitions = topics[0]?.partitions ?? [];
    let hash = 0;
    for (const char of groupId) hash = (Math.imul(31, hash) + char.charCodeAt(0)) | 0;
    const nth = (hash & 0x7fffffff) % partitions.length;
    const leader = partitions.find(({ partitionId }) => partitionId === nth)?.leader;
    if (leader === undefined) throw new Error(`${groupId} has no coordinator`);
    return leader;
  }
}
