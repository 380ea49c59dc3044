import { RefusedStart } from '#libs/config/refused-start.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { RECORD_BYTES } from '#libs/stream-log/record-limits.js';
import { type Cluster } from '../wire/cluster.js';
import { type BrokerSettings } from './broker-settings.js';
import { MAX_MESSAGE, type TopicAdmin, TOPIC_RECORD_BYTES } from './topic-admin.js';

export interface RecordSizeOptions {
  readonly cluster: Pick<Cluster, 'topics' | 'warn'>;
  readonly admin: Pick<TopicAdmin, 'configs' | 'alterAll'>;
  readonly brokers: BrokerSettings;
  /** Prefix of the topics of this installation. */
  readonly prefix: string;
}

/** Room for key and headers: an id, a summary and a channel of full length. */
const HEADER_BYTES = 256 * 1024;
/** Largest record that any process publishes. */
export const LARGEST_RECORD = RECORD_BYTES + HEADER_BYTES;
const REQUEST = 'socket.request.max.bytes';
const WHY = `a record may have ${LARGEST_RECORD} bytes (an event of an endpoint with its error, or what a run emits)`;

/**
 * Checks that Kafka accepts the largest record. Raises `max.message.bytes` of our topics where it is too low. Rejects
 * with RefusedStart, with both numbers, when a topic or a broker would refuse such a record.
 */
export const verifyRecordSize = async ({ cluster, admin, brokers, prefix }: RecordSizeOptions): Promise<void> => {
  const names = [...cluster.topics()].map(({ name }) => name).filter((name) => name.startsWith(prefix));
  const configs = await admin.configs(names, [MAX_MESSAGE]);
  const takes = (name: string): number => Number(configs.get(name)?.get(MAX_MESSAGE) ?? LARGEST_RECORD);
  const low = names.filter((name) => takes(name) < LARGEST_RECORD);
  const errors = await admin.alterAll(low, () => [{ name: MAX_MESSAGE, value: String(TOPIC_RECORD_BYTES) }]);
  const raised = low.length - errors.size;
  const problems = [...errors].map(
    ([name, error]) => `topic ${name} takes ${takes(name)} (${MAX_MESSAGE}): ${messageOf(error)}`,
  );
  if (raised > 0) cluster.warn(`${MAX_MESSAGE} was too low and is set`, WHY, { raised });
  for (const { broker, values } of (await brokers.read([REQUEST])) ?? []) {
    const has = Number(values.get(REQUEST) ?? Infinity);
    if (has < LARGEST_RECORD) problems.push(`broker ${broker} takes requests of ${has} (${REQUEST}): set it higher`);
  }
  if (problems.length > 0) throw new RefusedStart(`Kafka: ${WHY}, and ${problems.slice(0, 3).join('; ')}`);
};
