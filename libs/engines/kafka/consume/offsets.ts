import { EngineUnavailable } from '#libs/kernel/engine-unavailable.js';
import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { RETRY_PAUSES, type Cluster } from '../wire/cluster.js';
import { byTopic, type PartitionId } from '../lane-names.js';
import { failIf, KafkaError } from '../wire/broker-connection.js';
import { CODE, isCoordinatorMoving, isLeaderMoving } from '../wire/protocol.js';

export const EARLIEST = -2;
export const LATEST = -1;
const ATTEMPTS = 12;
/** About 16 s, because brokers notice after 9 s that one died and move its groups to another. */
const COORDINATOR_ATTEMPTS = 20;
/** Partitions in one request. */
const AT_ONCE = 2_000;

export const keyOf = ({ topic, partition }: PartitionId): string => `${topic}/${partition}`;

export interface Commit extends PartitionId {
  /** The next offset to read. */
  readonly next: number;
  /** The member that holds the partition; empty for none. */
  readonly holder: string;
  /** Id of the topic to which the offset belongs. Undefined when only the topic's name is known. */
  readonly topicId?: string;
  /** Leader epoch of the last record before `next`; -1 when it is not known. */
  readonly epoch?: number;
  /** See LaneStart; default: 0. */
  readonly incarnation?: number;
}

export interface Committed {
  /** The next offset to read; -1 when the group has committed nothing. */
  readonly next: number;
  readonly holder: string;
  /** Undefined when the commit does not name it. */
  readonly topicId: string | undefined;
  /** -1 when the commit does not name it. */
  readonly epoch: number;
  readonly incarnation: number;
}

/** Topic in which the brokers store committed offsets. */
export const OFFSETS_TOPIC = '__consumer_offsets';

/** Prefix of groups that read live records and hold back no retention. */
export const TAIL_GROUP = 'tail.';

/** The text that is stored with an offset: its holder, the id of its topic, and the lane's incarnation unless it is 0. */
const metadataOf = ({ holder, topicId, incarnation = 0 }: Commit): string =>
  topicId === undefined ? holder : [holder, topicId, ...(incarnation > 0 ? [incarnation] : [])].join(';');

const readMetadata = (text: string): Pick<Committed, 'holder' | 'topicId' | 'incarnation'> => {
  const [holder = '', topicId, incarnation = '0'] = text.split(';');
  return { holder, topicId, incarnation: Number(incarnation) };
};

/** Offsets of partitions and groups. All keys are those of `keyOf`. */
export class Offsets {
  constructor(private readonly cluster: Cluster) {}

  /** Like `at`, asking each broker once. A partition without an answer is left out. */
  async reachable(partitions: readonly PartitionId[], timestamp: number): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    await Promise.all([...this.byLeader(partitions)].map((each) => this.list(...each, timestamp, found)));
    return found;
  }

  /**
   * For each partition the newest epoch with records up to the given one, and its end (-1 for both: none). A partition
   * without an answer is left out.
   */
  async epochEnds(
    partitions: readonly (PartitionId & { readonly epoch: number })[],
  ): Promise<Map<string, { readonly epoch: number; readonly endOffset: number }>> {
    const found = new Map<string, { readonly epoch: number; readonly endOffset: number }>();
    const ask = async ([leader, list]: readonly [number, readonly (PartitionId & { readonly epoch: number })[]]) => {
      if (leader < 0) return;
      const topics = byTopic(list, ({ partition, epoch }) => ({ partition, epoch }));
      let reply;
      try {
        reply = await this.cluster.call(leader, 'offsets', 'OffsetForLeaderEpoch', { topics });
      } catch (error) {
        this.cluster.warn('a broker did not return where its epochs end', error, { broker: leader });
        return;
      }
      for (const { topic, partitions: answers } of reply.responses) {
        for (const { partition, errorCode, epoch, endOffset } of answers) {
          if (errorCode === CODE.NONE) found.set(keyOf({ topic, partition }), { epoch, endOffset });
        }
      }
    };
    await Promise.all([...this.byLeader(partitions)].map(ask));
    return found;
  }

  /**
   * Returns the first or last offset of each partition, or that of the first record from a time on (epoch milliseconds;
   * -1: there is none). A partition that does not exist is left out. Waits for partitions without a leader, and rejects
   * when one has none for some seconds.
   */
  async at(partitions: readonly PartitionId[], timestamp: number): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    let left = partitions;
    const backoff = new Backoff(RETRY_PAUSES);
    for (let attempt = 0; left.length > 0 && attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) {
        await pause(backoff.next());
        await this.cluster.refresh();
      }
      left = (await Promise.all([...this.byLeader(left)].map((each) => this.list(...each, timestamp, found)))).flat();
      left = left.filter(({ topic }) => this.cluster.topic(topic));
    }
    if (left[0]) throw new EngineUnavailable('Kafka', `no leader returns the offsets of ${keyOf(left[0])}`);
    return found;
  }

  /** Committed offsets of a group. */
  async committed(group: string, partitions: readonly PartitionId[]): Promise<Map<string, Committed>> {
    const found = new Map<string, Committed>();
    for (let i = 0; i < partitions.length; i += AT_ONCE) {
      const topics = byTopic(partitions.slice(i, i + AT_ONCE), ({ partition }) => partition);
      const reply = await this.askingCoordinator(`the offsets of group ${group}`, group, async () => {
        const answer = await this.cluster.callCoordinator(group, 'offsets', 'OffsetFetch', { groupId: group, topics });
        const failed = answer.responses.flatMap((each) => each.partitions).find(({ errorCode }) => errorCode !== 0);
        return { answer, code: answer.errorCode || (failed?.errorCode ?? 0) };
      });
      for (const { topic, partitions: list } of reply.responses) {
        for (const { partition, offset, epoch, metadata } of list) {
          found.set(keyOf({ topic, partition }), { next: offset, epoch, ...readMetadata(metadata) });
        }
      }
    }
    return found;
  }

  /**
   * Returns the code of each partition that was not committed. Many partitions need several requests, some of which may
   * fail.
   */
  async commit(
    group: string,
    member: { readonly id: string; readonly generation: number },
    commits: readonly Commit[],
  ): Promise<Map<string, number>> {
    const failed = new Map<string, number>();
    for (let i = 0; i < commits.length; i += AT_ONCE) {
      const reply = await this.cluster.callCoordinator(group, 'offsets', 'OffsetCommit', {
        groupId: group,
        generationId: member.generation,
        memberId: member.id,
        topics: byTopic(commits.slice(i, i + AT_ONCE), (commit) => ({
          partition: commit.partition,
          offset: commit.next,
          epoch: commit.epoch ?? -1,
          metadata: metadataOf(commit),
        })),
      });
      for (const { topic, partitions } of reply.responses) {
        for (const { partition, errorCode } of partitions) {
          if (errorCode !== CODE.NONE) failed.set(keyOf({ topic, partition }), errorCode);
          if (isCoordinatorMoving(errorCode)) this.cluster.forgetCoordinator(group);
        }
      }
    }
    return failed;
  }

  /** Sets the offsets of a group without members. Rejects when the group has members. */
  async setCommitted(group: string, commits: readonly Commit[]): Promise<void> {
    await this.askingCoordinator(`the offsets of group ${group} (close its consumers first)`, group, async () => {
      const failed = await this.commit(group, { id: '', generation: -1 }, commits);
      return { answer: undefined, code: [...failed.values()][0] ?? 0 };
    });
  }

  /**
   * Groups on all brokers whose names start with the prefix, except those that read live records. Rejects when a group
   * may be hidden.
   */
  async groups(prefix: string): Promise<readonly string[]> {
    if (this.cluster.topic(OFFSETS_TOPIC)?.leaders.some((leader) => leader < 0)) {
      throw new EngineUnavailable(
        'Kafka',
        `groups are hidden, because no broker leads a partition of ${OFFSETS_TOPIC}`,
      );
    }
    const lists = await Promise.all(
      this.cluster.brokers().map(async (node) => {
        const reply = await this.cluster.call(node, 'offsets', 'ListGroups', {});
        // A coordinator that is still loading would hide its groups, so the result could not be trusted.
        failIf('the list of groups', reply.errorCode);
        return reply.groupIds;
      }),
    );
    return [...new Set(lists.flat())].filter(
      (name) => name.startsWith(prefix) && !name.startsWith(prefix + TAIL_GROUP),
    );
  }

  private byLeader<P extends PartitionId>(partitions: readonly P[]): Map<number, P[]> {
    const leaders = new Map<number, P[]>();
    for (const each of partitions) {
      const leader = this.cluster.topic(each.topic)?.leaders[each.partition];
      if (leader === undefined) continue;
      const list = leaders.get(leader);
      if (list) list.push(each);
      else leaders.set(leader, [each]);
    }
    return leaders;
  }

  /** Returns the partitions to ask for again. */
  private async list(
    leader: number,
    partitions: readonly PartitionId[],
    timestamp: number,
    found: Map<string, number>,
  ): Promise<readonly PartitionId[]> {
    if (leader < 0) return partitions;
    const again: PartitionId[] = [];
    const topics = byTopic(partitions, ({ partition }) => ({ partition, timestamp }));
    let reply;
    try {
      reply = await this.cluster.call(leader, 'offsets', 'ListOffsets', { topics });
    } catch (error) {
      this.cluster.warn('a broker did not return offsets', error, { broker: leader });
      return partitions;
    }
    for (const { topic, partitions: list } of reply.responses) {
      for (const { partition, errorCode, offset } of list) {
        const key = keyOf({ topic, partition });
        if (isLeaderMoving(errorCode)) again.push({ topic, partition });
        else failIf(`the offsets of ${key}`, errorCode);
        if (errorCode === CODE.NONE) found.set(key, offset);
      }
    }
    return again;
  }

  /** Asks again while the coordinator moves to another broker, or cannot be reached. Asking twice must be harmless. */
  private async askingCoordinator<T>(
    what: string,
    group: string,
    ask: () => Promise<{ readonly answer: T; readonly code: number }>,
  ): Promise<T> {
    const backoff = new Backoff(RETRY_PAUSES);
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt >= COORDINATOR_ATTEMPTS || this.cluster.isClosed;
      const asked = await ask().catch((error: unknown) => {
        if (isLast || error instanceof KafkaError) throw error;
        return undefined;
      });
      if (asked?.code === CODE.NONE) return asked.answer;
      if (asked && (isLast || !isCoordinatorMoving(asked.code))) failIf(what, asked.code);
      this.cluster.forgetCoordinator(group);
      await pause(backoff.next());
    }
  }
}
