import { RefusedStart } from '#libs/config/refused-start.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { type Cluster, type TopicMetadata } from '../wire/cluster.js';
import { OFFSETS_TOPIC } from '../consume/offsets.js';
import { type BrokerSettings, type SettingsOfBroker } from './broker-settings.js';
import { MIN_IN_SYNC, minInSync, type TopicAdmin } from './topic-admin.js';

/** `required`: a start that could lose acknowledged records is refused. `best_effort`: it is reported once. */
export type Durability = 'required' | 'best_effort';

export interface DurabilityOptions {
  readonly cluster: Cluster;
  readonly admin: Pick<TopicAdmin, 'configs' | 'alterAll'>;
  readonly brokers: BrokerSettings;
  /** Prefix of the topics of this installation. */
  readonly prefix: string;
  /** Number of copies of new topics. */
  readonly copies: number;
  readonly durability: Durability;
}

const FLUSH = 'log.flush.interval.messages';
const OFFSETS_COPIES = 'offsets.topic.replication.factor';
const WAY_OUT = 'or accept the loss with SLUICE_KAFKA_DURABILITY=best_effort';

/**
 * Checks that a record which Kafka acknowledges survives the loss of a broker, or of its power where there is only one
 * copy. Raises `min.insync.replicas` of our topics to the majority of their copies. Rejects with RefusedStart when a
 * topic, new or old, or the groups' offsets would not be durable.
 */
export const verifyDurability = async (options: DurabilityOptions): Promise<void> => {
  const { cluster, durability } = options;
  const problems = [
    ...(await newTopicProblems(options)),
    ...(await raiseMinInSync(options)),
    ...(await offsetsTopicProblems(options)),
  ];
  if (problems.length === 0) return;
  const text = `acknowledged events could be lost: ${problems.join('; ')}`;
  if (durability === 'required') throw new RefusedStart(`Kafka: ${text}; ${WAY_OUT}`);
  cluster.warn(text, 'SLUICE_KAFKA_DURABILITY is best_effort');
};

/** The brokers' settings; none, with a warning, when they may not be read. */
const settingsOf = async (
  { brokers, cluster }: DurabilityOptions,
  names: readonly string[],
): Promise<readonly SettingsOfBroker[]> => {
  const settings = await brokers.read(names);
  if (settings) return settings;
  cluster.warn('durability could not be verified', 'the brokers do not let their configuration be read');
  return [];
};

/** Why one copy is not enough here; undefined when every broker writes each append to its disk before it answers. */
const oneCopyProblem = async (options: DurabilityOptions): Promise<string | undefined> => {
  const settings = await settingsOf(options, [FLUSH]);
  const lazy = settings.find(({ values }) => values.get(FLUSH) !== '1');
  return lazy && `broker ${lazy.broker} acknowledges before it writes to disk (${FLUSH} is ${lazy.values.get(FLUSH)})`;
};

const newTopicProblems = async (options: DurabilityOptions): Promise<readonly string[]> => {
  if (options.copies > 1) return [];
  const lazy = await oneCopyProblem(options);
  return lazy === undefined
    ? []
    : [`topics get one copy, and ${lazy}: set SLUICE_KAFKA_REPLICATION=3 on three brokers, or ${FLUSH}=1`];
};

const copiesOf = ({ copies }: TopicMetadata): number => Math.min(...copies);

/** Returns the remaining problems of existing topics. */
const raiseMinInSync = async (options: DurabilityOptions): Promise<readonly string[]> => {
  const { cluster, admin, prefix, copies } = options;
  const topics = [...cluster.topics()].filter(({ name }) => name.startsWith(prefix));
  const configs = await admin.configs(
    topics.map(({ name }) => name),
    [MIN_IN_SYNC],
  );
  const low = new Map<string, { readonly needed: number; readonly has: number }>();
  for (const topic of topics) {
    const needed = minInSync(copiesOf(topic));
    const has = Number(configs.get(topic.name)?.get(MIN_IN_SYNC) ?? needed);
    if (has < needed) low.set(topic.name, { needed, has });
  }
  const errors = await admin.alterAll([...low.keys()], (name) => [
    { name: MIN_IN_SYNC, value: String(low.get(name)?.needed) },
  ]);
  const raised = low.size - errors.size;
  if (raised > 0)
    cluster.warn(`${MIN_IN_SYNC} was too low and is set`, 'acknowledged records were at risk', { raised });
  const refused = [...errors].map(([name, error]) => {
    const { needed, has } = low.get(name) ?? {};
    return `topic ${name} needs ${MIN_IN_SYNC}=${needed} and has ${has}: ${messageOf(error)}`;
  });
  const single = topics.filter((topic) => copiesOf(topic) === 1);
  const lazy = copies > 1 && single.length > 0 ? await oneCopyProblem(options) : undefined;
  if (lazy !== undefined) {
    refused.push(
      `${single.length} topics have one copy (${single[0]?.name ?? ''}), and ${lazy}: add copies with kafka-reassign-partitions.sh`,
    );
  }
  return refused.slice(0, 3);
};

/** Groups whose offsets are lost begin at the oldest records. */
const offsetsTopicProblems = async (options: DurabilityOptions): Promise<readonly string[]> => {
  const { cluster, admin, copies } = options;
  const topic = await cluster.refreshTopic(OFFSETS_TOPIC);
  const own = topic && (await admin.configs([OFFSETS_TOPIC], [MIN_IN_SYNC])).get(OFFSETS_TOPIC)?.get(MIN_IN_SYNC);
  // A topic that another process has just created has the brokers' own setting, even while a broker does not know it
  // yet.
  const settings =
    own === undefined ? (await settingsOf(options, [OFFSETS_COPIES, MIN_IN_SYNC]))[0]?.values : undefined;
  if (own === undefined && !settings) return [];
  const has = topic ? copiesOf(topic) : Number(settings?.get(OFFSETS_COPIES) ?? 1);
  const inSync = Number(own ?? settings?.get(MIN_IN_SYNC) ?? 1);
  if (has < copies) {
    return [
      topic
        ? `${OFFSETS_TOPIC} has fewer copies (${has}) than our topics (${copies}): add copies with kafka-reassign-partitions.sh`
        : `${OFFSETS_COPIES} of the brokers is ${has}, and our topics have ${copies} copies: set it to ${copies}`,
    ];
  }
  const needed = minInSync(has);
  if (inSync >= needed) return [];
  return [
    topic
      ? `${OFFSETS_TOPIC} needs ${MIN_IN_SYNC}=${needed} for its ${has} copies and has ${inSync}: kafka-configs.sh --alter ` +
        `--entity-type topics --entity-name ${OFFSETS_TOPIC} --add-config ${MIN_IN_SYNC}=${needed}`
      : `${MIN_IN_SYNC} of the brokers is ${inSync}, and ${OFFSETS_TOPIC} will have ${has} copies: set it to ${needed}`,
  ];
};
