import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type Retention } from '#libs/stream-log/stream-log.js';
import { type Cluster } from '../wire/cluster.js';
import { failIf } from '../wire/broker-connection.js';
import { CODE, isLeaderMoving, TOPIC_RESOURCE, type ConfigEntry } from '../wire/protocol.js';

const WITHIN_MS = 30_000;
const REQUEST_MS = 10_000;
/** Records of the platform may exceed Kafka's default limit of 1 MB. */
const RECORD_BYTES = 16 << 20;
/** How often Kafka closes a segment. Kafka drops nothing from the open segment. */
const SEGMENT_MS = 3_600_000;

/**
 * Retention in Kafka's settings. Kafka has no "drop when consumed". The retention of deletion marks has no effect on a
 * topic that is not compacted, so the value 0 there is our mark.
 */
const DROP_CONSUMED = 'delete.retention.ms';
const KEEP = '86400000';

const configOf = ({ ageMs, bytes, dropConsumed = false }: Retention): readonly ConfigEntry[] => [
  { name: 'cleanup.policy', value: 'delete' },
  { name: 'retention.ms', value: String(ageMs ?? -1) },
  { name: 'retention.bytes', value: String(bytes ?? -1) },
  { name: 'max.message.bytes', value: String(RECORD_BYTES) },
  { name: 'segment.ms', value: String(ageMs === undefined ? 7 * 24 * SEGMENT_MS : SEGMENT_MS) },
  { name: DROP_CONSUMED, value: dropConsumed ? '0' : KEEP },
];

const CONFIG_NAMES = ['retention.ms', 'retention.bytes', DROP_CONSUMED];

const retentionOf = (config: ReadonlyMap<string, string>): Retention => {
  const ageMs = Number(config.get('retention.ms') ?? -1);
  const bytes = Number(config.get('retention.bytes') ?? -1);
  return {
    ...(ageMs >= 0 ? { ageMs } : {}),
    ...(bytes >= 0 ? { bytes } : {}),
    dropConsumed: config.get(DROP_CONSUMED) === '0',
  };
};

/** Creates and deletes topics by their full names. Retries for 30 s while the cluster is not ready. */
export class TopicAdmin {
  constructor(
    private readonly cluster: Cluster,
    private readonly replicationFactor: number,
  ) {}

  /** Resolves when every partition has a leader. */
  async create(topic: string, retention: Retention, partitions: number): Promise<void> {
    const configEntries = configOf(retention);
    const exists = await this.trying(async () => {
      const reply = await this.cluster.callController('CreateTopics', {
        timeout: REQUEST_MS,
        topics: [{ topic, numPartitions: partitions, replicationFactor: this.replicationFactor, configEntries }],
      });
      const { errorCode = 0, errorMessage } = reply.topicErrors[0] ?? {};
      if (errorCode === CODE.TOPIC_ALREADY_EXISTS) return true;
      failUnlessMoving(`topic ${topic} cannot be created`, errorCode, errorMessage);
      return errorCode === CODE.NONE ? false : undefined;
    });
    if (exists) await this.alter(topic, configEntries);
    await this.trying(async () => {
      const known = await this.cluster.refreshTopic(topic);
      return known?.leaders.every((leader) => leader >= 0) ? true : undefined;
    });
  }

  async delete(topic: string): Promise<void> {
    await this.trying(async () => {
      const reply = await this.cluster.callController('DeleteTopics', { timeout: REQUEST_MS, topics: [topic] });
      const { errorCode = 0, errorMessage } = reply.topicErrors[0] ?? {};
      if (errorCode === CODE.NONE || errorCode === CODE.UNKNOWN_TOPIC_OR_PARTITION) return true;
      failUnlessMoving(`topic ${topic} cannot be deleted`, errorCode, errorMessage);
      return undefined;
    });
    // Until all brokers know of the deletion, their metadata would bring the topic back.
    await this.trying(async () => ((await this.cluster.refreshTopic(topic)) ? undefined : true));
    this.cluster.forget(topic);
  }

  /** Retention by topic name. A topic that does not exist is left out. */
  async retentions(topics: readonly string[]): Promise<Map<string, Retention>> {
    const found = new Map<string, Retention>();
    if (topics.length === 0) return found;
    const reply = await this.cluster.callAny('DescribeConfigs', {
      resources: topics.map((name) => ({ type: TOPIC_RESOURCE, name, configNames: CONFIG_NAMES })),
    });
    for (const { errorCode, resourceName, configEntries } of reply.resources) {
      if (errorCode === CODE.UNKNOWN_TOPIC_OR_PARTITION) continue;
      failIf(`the configuration of topic ${resourceName}`, errorCode);
      const config = new Map(configEntries.map(({ configName, configValue }) => [configName, configValue ?? '']));
      found.set(resourceName, retentionOf(config));
    }
    return found;
  }

  private async alter(name: string, configEntries: readonly ConfigEntry[]): Promise<void> {
    await this.trying(async () => {
      const resources = [{ type: TOPIC_RESOURCE, name, configEntries }];
      const reply = await this.cluster.callController('AlterConfigs', { resources });
      const { errorCode = 0, errorMessage } = reply.resources[0] ?? {};
      failUnlessMoving(`the retention of topic ${name} cannot be set`, errorCode, errorMessage);
      return errorCode === CODE.NONE ? true : undefined;
    });
  }

  /** Retries with pauses until `act` returns a result. */
  private async trying<T>(act: () => Promise<T | undefined>): Promise<T> {
    const until = performance.now() + WITHIN_MS;
    const backoff = new Backoff({ firstMs: 10, longestMs: 1_000 });
    for (;;) {
      let failure: unknown = new Error('the brokers are not ready');
      try {
        const result = await act();
        if (result !== undefined) return result;
      } catch (error) {
        if (this.cluster.isClosed || error instanceof RefusedByBroker) throw error;
        failure = error;
      }
      if (performance.now() > until) throw failure;
      await pause(backoff.next());
    }
  }
}

/** A refusal that must not be retried. */
class RefusedByBroker extends Error {}

const failUnlessMoving = (what: string, code: number, detail?: string | null): void => {
  if (code === CODE.NONE || code === CODE.NOT_CONTROLLER || isLeaderMoving(code)) return;
  try {
    failIf(what, code, detail);
  } catch (cause) {
    throw new RefusedByBroker(cause instanceof Error ? cause.message : what, { cause });
  }
};
