import { pause } from '#libs/async/pause.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type Retention } from '#libs/stream-log/stream-log.js';
import { type Cluster } from '../wire/cluster.js';
import { byTopic, type PartitionId } from '../lane-names.js';
import { type LaneReader } from '../consume/lane-reader.js';
import { EARLIEST, keyOf, LATEST, type Committed, type Offsets } from '../consume/offsets.js';
import { CODE, isLeaderMoving } from '../wire/protocol.js';
import { sizeOf } from '../records.js';
import { TOPICS_AT_ONCE, type TopicAdmin } from './topic-admin.js';

export interface SweeperHost {
  readonly cluster: Cluster;
  readonly offsets: Offsets;
  readonly admin: TopicAdmin;
  readonly reader: LaneReader;
  readonly clock: Clock;
  readonly prefix: string;
  readonly everyMs: number;
  /** Partitions held by consumers of this process. */
  held(): readonly PartitionId[];
  /** Retention by the topic's full name; undefined when this process does not know it. */
  retentionOf(topic: string): Retention | undefined;
}

/** Newest records from which the average size in a lane is estimated, and the growth that causes a new estimate. */
const SAMPLE = 200;
const GROWTH = 0.5;

/**
 * Drops records that retention allows and every group has committed. Kafka's own retention ignores groups, so it is
 * off, and nothing else drops records. The owner of a lane sweeps it.
 */
export class RetentionSweeper {
  private readonly stopping = new AbortController();
  private readonly ended: Promise<void>;
  /** The lowest offsets that each group had committed when it was last asked, by group and key. They only grow. */
  private readonly lastCommitted = new Map<string, ReadonlyMap<string, Committed>>();
  /** Average bytes of a record and the end of the log at that time, by key. */
  private readonly sampled = new Map<string, { readonly to: number; readonly average: number }>();

  constructor(private readonly host: SweeperHost) {
    this.ended = this.run();
  }

  /** Runs one pass over every topic of the prefix. Rejects when the brokers cannot be reached. */
  async sweep(): Promise<void> {
    const { cluster, prefix } = this.host;
    await cluster.refresh();
    const partitions: PartitionId[] = [];
    for (const { name, leaders } of cluster.topics()) {
      if (name.startsWith(prefix)) leaders.forEach((_, partition) => partitions.push({ topic: name, partition }));
    }
    await this.pass(partitions);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.ended;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    for (;;) {
      await pause(this.host.everyMs, signal, { ref: false });
      if (signal.aborted) return;
      try {
        await this.pass(this.host.held());
      } catch (error) {
        // No record is lost, and the next pass completes this one.
        this.host.cluster.warn('consumed records could not be dropped', error);
      }
    }
  }

  private async pass(partitions: readonly PartitionId[]): Promise<void> {
    const topics = [...new Set(partitions.map(({ topic }) => topic))];
    for (const key of this.sampled.keys()) if (!this.host.cluster.topic(topicOf(key))) this.sampled.delete(key);
    for (let i = 0; i < topics.length && !this.stopping.signal.aborted; i += TOPICS_AT_ONCE) {
      const some = new Set(topics.slice(i, i + TOPICS_AT_ONCE));
      const retentions = await this.retentionsOf([...some]);
      await this.dropOf(
        partitions.filter(({ topic }) => some.has(topic) && limits(retentions.get(topic))),
        retentions,
      );
    }
  }

  private async retentionsOf(topics: readonly string[]): Promise<Map<string, Retention>> {
    const dropConsumed = await this.host.admin.dropConsumed(topics);
    return new Map(
      topics.map((topic) => [topic, { ...this.host.retentionOf(topic), dropConsumed: dropConsumed.has(topic) }]),
    );
  }

  private async dropOf(partitions: readonly PartitionId[], retentions: ReadonlyMap<string, Retention>): Promise<void> {
    if (partitions.length === 0) return;
    const { offsets } = this.host;
    const [first, end] = await Promise.all([
      offsets.reachable(partitions, EARLIEST),
      offsets.reachable(partitions, LATEST),
    ]);
    const filled = partitions.filter((each) => (end.get(keyOf(each)) ?? 0) > (first.get(keyOf(each)) ?? 0));
    const committed = await this.committedByAll(filled);
    const old = await this.tooOld(filled, retentions, end);
    const drops: (PartitionId & { readonly offset: number })[] = [];
    for (const each of filled) {
      const key = keyOf(each);
      const retention = retentions.get(each.topic);
      const from = first.get(key) ?? 0;
      const to = end.get(key) ?? 0;
      const lowest = committed.get(key);
      let offset = Math.max(from, old.get(key) ?? from);
      if (retention?.dropConsumed && lowest !== undefined) offset = lowest;
      if (retention?.bytes !== undefined)
        offset = Math.max(offset, await this.tooMuch(each, retention.bytes, from, to));
      offset = Math.min(offset, lowest ?? to, to);
      if (offset > from) drops.push({ ...each, offset });
    }
    await this.drop(drops);
  }

  /** The lowest committed offset over all groups that ever had the partition. Rejects when a group cannot be asked. */
  private async committedByAll(partitions: readonly PartitionId[]): Promise<Map<string, number>> {
    const lowest = new Map<string, number>();
    if (partitions.length === 0) return lowest;
    for (const group of await this.groups()) {
      for (const [key, { next }] of await this.committedBy(group, partitions)) {
        if (next >= 0) lowest.set(key, Math.min(next, lowest.get(key) ?? next));
      }
    }
    return lowest;
  }

  /**
   * A group is missing while its coordinator is away or moves. A new group cannot be, because it could not have been
   * joined.
   */
  private async groups(): Promise<ReadonlySet<string>> {
    const { offsets, prefix, cluster } = this.host;
    try {
      return new Set([...(await offsets.groups(prefix)), ...this.lastCommitted.keys()]);
    } catch (error) {
      if (this.lastCommitted.size === 0) throw error;
      cluster.warn('groups could not be listed; those known before count', error);
      return new Set(this.lastCommitted.keys());
    }
  }

  /** Returns the last known offsets while the group's coordinator is away, because offsets of a group only grow. */
  private async committedBy(
    group: string,
    partitions: readonly PartitionId[],
  ): Promise<ReadonlyMap<string, Pick<Committed, 'next'>>> {
    const last = this.lastCommitted.get(group);
    try {
      const committed = await this.host.offsets.committed(group, partitions);
      const isKnown = [...committed.values()].some(({ next }) => next >= 0);
      if (isKnown) this.lastCommitted.set(group, new Map([...(last ?? []), ...committed]));
      else this.lastCommitted.delete(group);
      return committed;
    } catch (error) {
      // No record may be dropped from a lane whose offset in the group was never read.
      if (!last) throw error;
      this.host.cluster.warn('a group cannot be asked what it has read; its last answer counts', error, { group });
      return new Map(partitions.map((each) => [keyOf(each), last.get(keyOf(each)) ?? { next: 0 }]));
    }
  }

  /** The first record of each partition that is young enough. */
  private async tooOld(
    partitions: readonly PartitionId[],
    retentions: ReadonlyMap<string, Retention>,
    end: ReadonlyMap<string, number>,
  ): Promise<Map<string, number>> {
    const ages = new Map<number, PartitionId[]>();
    for (const each of partitions) {
      const age = retentions.get(each.topic)?.ageMs;
      if (age !== undefined) ages.set(age, [...(ages.get(age) ?? []), each]);
    }
    const young = new Map<string, number>();
    for (const [age, list] of ages) {
      const found = await this.host.offsets.reachable(list, Math.max(0, this.host.clock.now() - age));
      for (const [key, offset] of found) young.set(key, offset >= 0 ? offset : (end.get(key) ?? 0));
    }
    return young;
  }

  /** The first record to keep so that about `limit` bytes remain, estimated from a sample. */
  private async tooMuch(partition: PartitionId, limit: number, from: number, to: number): Promise<number> {
    const key = keyOf(partition);
    let known = this.sampled.get(key);
    if (!known || to > known.to + GROWTH * (known.to - from)) {
      const names = { name: key, topic: partition.topic };
      const sample = await this.host.reader.read(names, partition, Math.max(from, to - SAMPLE) - 1, SAMPLE);
      const bytes = sample.reduce((sum, record) => sum + sizeOf(record), 0);
      known = { to, average: bytes / Math.max(1, sample.length) };
      this.sampled.set(key, known);
    }
    return known.average === 0 ? from : Math.max(from, to - Math.floor(limit / known.average));
  }

  private async drop(drops: readonly (PartitionId & { readonly offset: number })[]): Promise<void> {
    const { cluster } = this.host;
    const byLeader = new Map<number, (PartitionId & { readonly offset: number })[]>();
    for (const each of drops) {
      const leader = cluster.topic(each.topic)?.leaders[each.partition] ?? -1;
      if (leader >= 0) byLeader.set(leader, [...(byLeader.get(leader) ?? []), each]);
    }
    // One broker that is away must not stop the deletion at the others.
    await Promise.all([...byLeader].map(([leader, list]) => this.dropAt(leader, list)));
  }

  private async dropAt(leader: number, list: readonly (PartitionId & { readonly offset: number })[]): Promise<void> {
    const { cluster } = this.host;
    const topics = byTopic(list, ({ partition, offset }) => ({ partition, offset }));
    let reply;
    try {
      reply = await cluster.call(leader, 'offsets', 'DeleteRecords', { timeout: 10_000, topics });
    } catch (error) {
      cluster.warn('records could not be dropped', error, { broker: leader });
      return;
    }
    for (const { topic, partitions } of reply.topics) {
      for (const { partition, errorCode } of partitions) {
        if (errorCode === CODE.NONE || isLeaderMoving(errorCode)) continue;
        cluster.warn('records could not be dropped', new Error(`code ${errorCode}`), {
          lane: keyOf({ topic, partition }),
        });
      }
    }
  }
}

const limits = (retention: Retention | undefined): boolean =>
  retention !== undefined &&
  (retention.dropConsumed === true || retention.ageMs !== undefined || retention.bytes !== undefined);

const topicOf = (key: string): string => key.slice(0, key.lastIndexOf('/'));
