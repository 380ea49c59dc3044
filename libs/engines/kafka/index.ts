import { RefusedStart } from '#libs/config/refused-start.js';
import { systemClock, type Clock } from '#libs/kernel/clock.js';
import { brokerSettings } from './admin/broker-settings.js';
import { type Durability, verifyDurability } from './admin/durability.js';
import { checkOffsetsRetention } from './admin/offsets-retention.js';
import { verifyRecordSize } from './admin/record-size.js';
import { TopicAdmin } from './admin/topic-admin.js';
import { Cluster } from './wire/cluster.js';
import { MemberIds } from './wire/member-ids.js';
import { RefusedConnection } from './wire/refused-connection.js';
import { type KafkaSecurity } from './wire/security.js';
import { type Retention } from '#libs/stream-log/stream-log.js';
import { KafkaStreamLog } from './stream-log.js';

export { kafkaFault } from './wire/faults.js';
export { type KafkaStreamLog } from './stream-log.js';
export { type KafkaSecurity, type KafkaUser, type Mechanism } from './wire/security.js';

export interface KafkaOptions {
  /** `host:port` of the brokers to ask first. */
  readonly brokers: readonly string[];
  /** Prefix of every topic and group name; may be empty. */
  readonly prefix: string;
  readonly clientId: string;
  /** Default: neither TLS nor a user. */
  readonly security?: KafkaSecurity | undefined;
  /** Replication factor of new topics. */
  readonly replicationFactor: number;
  /** Reaction to a Kafka cluster whose settings may lose acknowledged records. Default: `required`. */
  readonly durability?: Durability;
  /** A process without a heartbeat for this long loses its lanes. Default: 6 s, the least that brokers allow. */
  readonly sessionTimeoutMs?: number | undefined;
  /** This process's folder, kept over restarts. With it a restarted process owns its lanes again at once. */
  readonly stateDir?: string | undefined;
  readonly onWarning: (text: string, fields: Record<string, unknown>) => void;
  /** Retention of topics that other processes created, by their names without the prefix. Default: none is known. */
  readonly retentionOf?: ((topic: string) => Retention | undefined) | undefined;
  /** Longest time that records are kept, to compare with the time that Kafka keeps offsets of groups. */
  readonly keptMs?: number | undefined;
  readonly clock?: Clock;
  /** How often consumed records are dropped. Default: 30 s. */
  readonly sweepEveryMs?: number;
  /** Limit on the records that are held for consumers, in bytes. Default: a quarter of the heap, 256 MB at most. */
  readonly fetchBytes?: number | undefined;
  /**
   * Interval of reading the list of topics while news of topics arrive. Default: 5 s, and up to 30 s with many topics.
   */
  readonly topicsEveryMs?: number;
}

/**
 * Rejects within about 3 s, naming the brokers, when none answers. Rejects with RefusedStart when they refuse this
 * process, when acknowledged records could be lost, or when Kafka would refuse the largest record.
 */
export const openKafka = async (options: KafkaOptions): Promise<KafkaStreamLog> => {
  const { brokers, clientId, security, onWarning, prefix, replicationFactor, stateDir, clock = systemClock } = options;
  const cluster = new Cluster({ brokers, clientId, security, onWarning });
  const admin = new TopicAdmin(cluster, replicationFactor);
  const settings = brokerSettings(brokers, clientId, security);
  try {
    await cluster.ping();
    await cluster.refresh();
    const checked = {
      cluster,
      admin,
      brokers: settings,
      prefix,
    };
    await verifyRecordSize(checked);
    await verifyDurability({
      ...checked,
      copies: replicationFactor,
      durability: options.durability ?? 'required',
    });
    if (options.keptMs !== undefined) await checkOffsetsRetention(cluster, settings, options.keptMs);
  } catch (error) {
    cluster.close();
    throw error instanceof RefusedConnection ? new RefusedStart(`Kafka: ${error.message}`) : error;
  }
  const { sessionTimeoutMs = 6_000, sweepEveryMs = 30_000, topicsEveryMs = 5_000 } = options;
  const { fetchBytes, retentionOf = () => undefined } = options;
  return new KafkaStreamLog(
    cluster,
    { prefix, replicationFactor, sessionTimeoutMs, sweepEveryMs, topicsEveryMs, fetchBytes, retentionOf },
    new MemberIds(stateDir),
    clock,
  );
};
