import { EngineUnavailable } from '#libs/kernel/engine-unavailable.js';
import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { asError } from '#libs/kernel/error-message.js';
import { type Retention } from '#libs/stream-log/stream-log.js';
import { type Cluster } from '../wire/cluster.js';
import { failIf } from '../wire/broker-connection.js';
import { CODE, isLeaderMoving, type ConfigEntry } from '../wire/protocol.js';

/** Topics whose configuration is read in one request. */
export const TOPICS_AT_ONCE = 500;
const WITHIN_MS = 30_000;
const REQUEST_MS = 10_000;
/** Records of the platform may exceed Kafka's default limit of 1 MB. */
export const TOPIC_RECORD_BYTES = 16 << 20;
export const MAX_MESSAGE = 'max.message.bytes';
/** How often Kafka closes a segment. Kafka drops nothing from the open segment. */
const SEGMENT_MS = 3_600_000;

/**
 * Kafka has no "drop when consumed". The retention of deletion marks has no effect on a topic that is not compacted, so
 * the value 0 there is our mark.
 */
const DROP_CONSUMED = 'delete.retention.ms';
const KEEP = '86400000';

const configOf = ({ ageMs, dropConsumed = false }: Retention): readonly ConfigEntry[] => [
  { name: 'cleanup.policy', value: 'delete' },
  // Kafka's own retention does not look at groups, so it must drop nothing. RetentionSweeper does.
  { name: 'retention.ms', value: '-1' },
  { name: 'retention.bytes', value: '-1' },
  { name: MAX_MESSAGE, value: String(TOPIC_RECORD_BYTES) },
  // A copy that missed records must not lead, whatever the brokers allow.
  { name: 'unclean.leader.election.enable', value: 'false' },
  { name: 'segment.ms', value: String(ageMs === undefined ? 7 * 24 * SEGMENT_MS : SEGMENT_MS) },
  { name: DROP_CONSUMED, value: dropConsumed ? '0' : KEEP },
];

/** Number of copies that must have a record before it counts as written. */
export const MIN_IN_SYNC = 'min.insync.replicas';

/**
 * The majority of the copies. Any two majorities share a copy, so a newly elected leader has every acknowledged record.
 */
export const minInSync = (copies: number): number => Math.floor(copies / 2) + 1;

/** Creates and deletes topics by their full names. Retries for 30 s while the cluster is not ready. */
export class TopicAdmin {
  constructor(
    private readonly cluster: Cluster,
    private readonly replicationFactor: number,
  ) {}

  /** Resolves when every partition has a leader. */
  async create(topic: string, retention: Retention, partitions: number): Promise<void> {
    const entries = configOf(retention);
    const exists = await this.trying(async () => {
      const { errorCode, errorMessage } = await this.cluster.callController('CreateTopic', {
        timeout: REQUEST_MS,
        topic,
        partitions,
        copies: this.replicationFactor,
        entries: [...entries, { name: MIN_IN_SYNC, value: String(minInSync(this.replicationFactor)) }],
      });
      if (errorCode === CODE.TOPIC_ALREADY_EXISTS) return true;
      failUnlessMoving(`topic ${topic} cannot be created`, errorCode, errorMessage);
      return errorCode === CODE.NONE ? false : undefined;
    });
    if (exists) await this.alter(topic, entries);
    await this.trying(async () => {
      const known = await this.cluster.refreshTopic(topic);
      return known?.leaders.every((leader) => leader >= 0) ? true : undefined;
    });
  }

  async delete(topic: string): Promise<void> {
    await this.trying(async () => {
      const args = { timeout: REQUEST_MS, topic };
      const { errorCode, errorMessage } = await this.cluster.callController('DeleteTopic', args);
      if (errorCode === CODE.NONE || errorCode === CODE.UNKNOWN_TOPIC_OR_PARTITION) return true;
      failUnlessMoving(`topic ${topic} cannot be deleted`, errorCode, errorMessage);
      return undefined;
    });
    // Until all brokers know of the deletion, the metadata of one would bring the topic back.
    await this.trying(async () => {
      if (await this.cluster.refreshTopic(topic)) return undefined;
      return (await this.cluster.gone([topic])).has(topic) ? true : undefined;
    });
    this.cluster.forget(topic);
  }

  /** Returns the topics whose consumed records may be dropped. */
  async dropConsumed(topics: readonly string[]): Promise<ReadonlySet<string>> {
    const configs = await this.configs(topics, [DROP_CONSUMED]);
    return new Set([...configs].flatMap(([topic, of]) => (of.get(DROP_CONSUMED) === '0' ? [topic] : [])));
  }

  /** Settings by topic name, including the brokers' defaults. A topic that does not exist is left out. */
  async configs(
    topics: readonly string[],
    names: readonly string[],
  ): Promise<Map<string, ReadonlyMap<string, string>>> {
    const found = new Map<string, ReadonlyMap<string, string>>();
    for (let i = 0; i < topics.length; i += TOPICS_AT_ONCE) {
      const some = topics.slice(i, i + TOPICS_AT_ONCE);
      const reply = await this.cluster.callAny('DescribeTopicConfigs', { topics: some, names });
      for (const { errorCode, errorMessage, topic, entries } of reply.topics) {
        if (errorCode === CODE.UNKNOWN_TOPIC_OR_PARTITION) continue;
        failIf(`the configuration of topic ${topic}`, errorCode, errorMessage);
        found.set(topic, new Map(entries.map(({ name, value }) => [name, value])));
      }
    }
    return found;
  }

  /** Changes these settings of a topic. Other settings by an operator stay. */
  async alter(topic: string, entries: readonly ConfigEntry[]): Promise<void> {
    const refused = (await this.alterAll([topic], () => entries)).get(topic);
    if (refused) throw refused;
  }

  /** Like `alter`, for many topics with few requests. Resolves with the failures by topic. */
  async alterAll(
    topics: readonly string[],
    entriesOf: (topic: string) => readonly ConfigEntry[],
  ): Promise<ReadonlyMap<string, Error>> {
    const refused = new Map<string, Error>();
    for (let i = 0; i < topics.length; i += TOPICS_AT_ONCE) {
      const left = new Set(topics.slice(i, i + TOPICS_AT_ONCE));
      await this.trying(async () => {
        const args = { topics: [...left].map((topic) => ({ topic, entries: entriesOf(topic) })) };
        const reply = await this.cluster.callController('IncrementalAlterConfigs', args);
        for (const { topic, errorCode, errorMessage } of reply.topics) {
          const problem = problemUnlessMoving(`topic ${topic} cannot be configured`, errorCode, errorMessage);
          if (problem) refused.set(topic, problem);
          if (problem ?? errorCode === CODE.NONE) left.delete(topic);
        }
        return left.size === 0 ? true : undefined;
      }).catch((error: unknown) => left.forEach((topic) => refused.set(topic, asError(error))));
    }
    return refused;
  }

  /** Retries with pauses until `act` returns a result. */
  private async trying<T>(act: () => Promise<T | undefined>): Promise<T> {
    const until = performance.now() + WITHIN_MS;
    const backoff = new Backoff({ firstMs: 10, longestMs: 1_000 });
    for (;;) {
      let failure: unknown = new EngineUnavailable('Kafka', 'the brokers are not ready');
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
  const problem = problemUnlessMoving(what, code, detail);
  if (problem) throw problem;
};

const problemUnlessMoving = (what: string, code: number, detail?: string | null): RefusedByBroker | undefined => {
  if (code === CODE.NONE || code === CODE.NOT_CONTROLLER || isLeaderMoving(code)) return undefined;
  try {
    failIf(what, code, detail);
    return undefined;
  } catch (cause) {
    return new RefusedByBroker(cause instanceof Error ? cause.message : what, { cause });
  }
};
