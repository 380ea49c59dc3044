/** A partition by the topic's full name in Kafka, prefix included. */
export interface PartitionId {
  readonly topic: string;
  readonly partition: number;
}

/** Kafka allows no slash in the name of a topic, so the two forms cannot be mixed up. */
export const laneName = (topic: string, partition: number, partitions: number): string =>
  partitions === 1 ? topic : `${topic}/${partition}`;

export const parseLane = (lane: string): { readonly topic: string; readonly partition: number } => {
  const slash = lane.lastIndexOf('/');
  return slash < 0
    ? { topic: lane, partition: 0 }
    : { topic: lane.slice(0, slash), partition: Number(lane.slice(slash + 1)) };
};

/** As the requests of the protocol want partitions: by topic. */
export const byTopic = <T extends PartitionId, P>(
  items: Iterable<T>,
  entry: (item: T) => P,
): { topic: string; partitions: P[] }[] => {
  const topics = new Map<string, P[]>();
  for (const item of items) {
    const partitions = topics.get(item.topic);
    if (partitions) partitions.push(entry(item));
    else topics.set(item.topic, [entry(item)]);
  }
  return [...topics].map(([topic, partitions]) => ({ topic, partitions }));
};
