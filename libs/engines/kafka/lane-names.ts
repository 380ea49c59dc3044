import { type TopicSelector } from '#libs/stream-log/stream-log.js';

/** A partition, with the topic's full Kafka name including the prefix. */
export interface PartitionId {
  readonly topic: string;
  readonly partition: number;
}

/** Topic with the news of created and deleted topics. No consumer selects it. */
export const TOPIC_NEWS = 'topic-news';

/** Kafka allows no slash in a topic name, so the two forms cannot collide. */
export const laneName = (topic: string, partition: number, partitions: number): string =>
  partitions === 1 ? topic : `${topic}/${partition}`;

export const parseLane = (lane: string): { readonly topic: string; readonly partition: number } => {
  const slash = lane.lastIndexOf('/');
  return slash < 0
    ? { topic: lane, partition: 0 }
    : { topic: lane.slice(0, slash), partition: Number(lane.slice(slash + 1)) };
};

/** Whether the selector, whose names have no prefix, selects the topic with this full name. */
export const isSelected = (fullName: string, prefix: string, selector: TopicSelector): boolean => {
  if (!fullName.startsWith(prefix) || fullName === prefix + TOPIC_NEWS) return false;
  return 'prefix' in selector
    ? fullName.startsWith(selector.prefix, prefix.length)
    : selector.names.includes(fullName.slice(prefix.length));
};

/** Groups partitions by topic, as the requests of the protocol need them. */
export const byTopic = <T extends PartitionId, P>(
  items: Iterable<T>,
  entry: (item: T) => P,
): { topic: string; partitions: P[] }[] =>
  [...grouped(items, ({ topic }) => topic, entry)].map(([topic, partitions]) => ({ topic, partitions }));

/** Groups partitions by topic id, for requests that name a topic by its id. */
export const byTopicId = <T extends { readonly topicId: string }, P>(
  items: Iterable<T>,
  entry: (item: T) => P,
): { topicId: string; partitions: P[] }[] =>
  [...grouped(items, ({ topicId }) => topicId, entry)].map(([topicId, partitions]) => ({ topicId, partitions }));

const grouped = <T, P>(items: Iterable<T>, nameOf: (item: T) => string, entry: (item: T) => P): Map<string, P[]> => {
  const groups = new Map<string, P[]>();
  for (const item of items) {
    const name = nameOf(item);
    const group = groups.get(name);
    if (group) group.push(entry(item));
    else groups.set(name, [entry(item)]);
  }
  return groups;
};
