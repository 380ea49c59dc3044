import { EngineUnavailable } from '#libs/kernel/engine-unavailable.js';
import { randomUUID } from 'node:crypto';
import { Backoff } from '#libs/async/backoff.js';
import { pause, WakeablePause } from '#libs/async/pause.js';
import { type Clock } from '#libs/kernel/clock.js';
import {
  type ConsumeOptions,
  type Consumer,
  type LaneBatch,
  type LogRecord,
  type OnSettled,
  type Retention,
  type StoredRecord,
  type StreamLog,
  type Tail,
  type TopicSelector,
} from '#libs/stream-log/stream-log.js';
import { type BudgetUsage, FetchBudget } from '../fetch-budget.js';
import { KafkaError } from './wire/broker-connection.js';
import { type Cluster, RETRY_PAUSES, type TopicMetadata } from './wire/cluster.js';
import { isLeaderMoving } from './wire/protocol.js';
import { GroupConsumer } from './consume/group-consumer.js';
import { isSelected, laneName, parseLane, type PartitionId } from './lane-names.js';
import { LaneReader } from './consume/lane-reader.js';
import { type MemberIds } from './wire/member-ids.js';
import { leaveGroup } from './consume/membership.js';
import { partitionOf } from './produce/murmur2.js';
import { EARLIEST, keyOf, LATEST, Offsets, TAIL_GROUP } from './consume/offsets.js';
import { Publisher } from './produce/publisher.js';
import { RetentionSweeper } from './admin/retention-sweeper.js';
import { TopicAdmin } from './admin/topic-admin.js';
import { TopicNews } from './topic-news.js';

export interface KafkaLogSettings {
  readonly prefix: string;
  readonly replicationFactor: number;
  readonly sessionTimeoutMs: number;
  readonly sweepEveryMs: number;
  /** Limit on the records that are held for consumers, in bytes. Default: a part of the heap. */
  readonly fetchBytes?: number | undefined;
  retentionOf(topic: string): Retention | undefined;
  /** Interval of reading the list of topics while news of topics arrive. */
  readonly topicsEveryMs: number;
}

/** Longest interval of reading the list of topics. The interval grows when the reading is slow. */
const LONGEST_REFRESH_MS = 30_000;
/** Interval while no news of topics arrive, or a partition has no leader. */
const SOON_MS = 700;
const LONGEST_SOON_MS = 1_500;
const REFRESH_SHARE = 20;
/** The group coordinators drop the offsets of a deleted topic with a short delay. */
const OFFSETS_GONE_MS = 2_000;
/** About 4 s, in which every broker has reported its topics. */
const TAIL_ATTEMPTS = 8;

/** StreamLog on Kafka. A lane is a partition. Topic and group names carry the prefix. */
export class KafkaStreamLog implements StreamLog {
  private readonly offsets: Offsets;
  private readonly budget: FetchBudget;
  private readonly admin: TopicAdmin;
  private readonly publisher: Publisher;
  private readonly reader: LaneReader;
  private readonly sweeper: RetentionSweeper;
  private readonly consumers = new Set<GroupConsumer>();
  /** Retention of the topics that this process created, by their full names. */
  private readonly retentions = new Map<string, Retention>();
  private readonly skippedRecords = new Map<string, number>();
  private readonly news: TopicNews;
  private readonly pause = new WakeablePause();
  private readonly refreshing: Promise<void>;
  private closing: Promise<void> | undefined;

  constructor(
    private readonly cluster: Cluster,
    private readonly settings: KafkaLogSettings,
    private readonly memberIds: MemberIds,
    clock: Clock,
  ) {
    const { prefix, replicationFactor, sweepEveryMs } = settings;
    this.offsets = new Offsets(cluster);
    this.budget = new FetchBudget(settings.fetchBytes);
    this.admin = new TopicAdmin(cluster, replicationFactor);
    this.publisher = new Publisher(cluster, clock, prefix, (partition, end) => {
      for (const consumer of this.consumers) consumer.appended(partition, end);
    });
    this.reader = new LaneReader(cluster, this.offsets);
    this.sweeper = new RetentionSweeper({
      cluster,
      offsets: this.offsets,
      admin: this.admin,
      reader: this.reader,
      clock,
      prefix,
      everyMs: sweepEveryMs,
      held: () => this.held(),
      retentionOf: (topic) => this.retentions.get(topic) ?? settings.retentionOf(this.short(topic)),
    });
    this.news = new TopicNews({
      cluster,
      admin: this.admin,
      offsets: this.offsets,
      prefix,
      clock,
      publish: (records) => this.publisher.publish(records),
      changed: () => this.pause.wake(),
    });
    cluster.onTopics(() => {
      if (this.isLeaderless()) this.pause.wake();
    });
    this.refreshing = this.refresh();
  }

  async createTopic(topic: string, retention: Retention, partitions = 1): Promise<void> {
    const name = this.full(topic);
    const before = this.cluster.topic(name);
    await this.admin.create(name, retention, partitions);
    this.retentions.set(name, retention);
    this.publisher.known(name, true);
    if (before?.id !== this.cluster.topic(name)?.id) void this.news.tell(topic);
  }

  async deleteTopic(topic: string): Promise<void> {
    const name = this.full(topic);
    const partitions = this.partitionsOf(await this.cluster.refreshTopic(name));
    await this.admin.delete(name);
    this.retentions.delete(name);
    this.publisher.known(name, false);
    void this.news.tell(topic);
    await this.offsetsGone(partitions);
  }

  async topics(prefix: string): Promise<readonly string[]> {
    await this.cluster.refresh();
    return this.select({ prefix })
      .map(({ name }) => this.short(name))
      .sort();
  }

  async lanes(topic: string): Promise<readonly string[]> {
    const known = await this.find(topic);
    return known?.leaders.map((_, partition) => laneName(topic, partition, known.leaders.length)) ?? [];
  }

  async laneOf(topic: string, key: string): Promise<string> {
    const known = await this.find(topic);
    if (!known) throw new EngineUnavailable('Kafka', `topic ${topic} does not exist`);
    return laneName(topic, partitionOf(key, known.leaders.length), known.leaders.length);
  }

  publish(records: readonly LogRecord[]): Promise<readonly (number | null)[]> {
    return this.publisher.publish(records);
  }

  publishEach(records: readonly LogRecord[], settled: OnSettled): void {
    this.publisher.publishEach(records, settled);
  }

  /** All consumers of a group must select the same topics, because lane owners are computed from its members. */
  async consume(options: ConsumeOptions): Promise<Consumer> {
    if (this.closing) throw new EngineUnavailable('Kafka', 'the stream log is closed');
    const { cluster, offsets, budget } = this;
    const { prefix, sessionTimeoutMs } = this.settings;
    const group = this.full(options.group);
    for (const id of this.memberIds.removeLeft(group)) await this.removeMember(group, id);
    await cluster.refresh();
    const consumer: GroupConsumer = new GroupConsumer(group, options, {
      cluster,
      offsets,
      budget,
      prefix,
      sessionTimeoutMs,
      onMemberId: (before, after) => this.memberIds.change(group, before, after),
      onClosed: () => this.consumers.delete(consumer),
      onSkipped: (records) => {
        this.skippedRecords.set(options.group, (this.skippedRecords.get(options.group) ?? 0) + records);
      },
    });
    this.consumers.add(consumer);
    this.news.listen();
    await consumer.started();
    return consumer;
  }

  /**
   * Reads as the only member of a separate group, which begins at the end of every topic. Retention does not wait for
   * its offsets.
   */
  async tail(topics: TopicSelector, onRecords: (records: readonly StoredRecord[]) => void): Promise<Tail> {
    const group = TAIL_GROUP + randomUUID();
    await this.beginAtEnd(this.full(group), topics);
    const handler = async (batch: LaneBatch): Promise<void> => {
      onRecords(batch.records);
      for (const { offset } of batch.records) batch.ack(offset);
    };
    return this.consume({ group, topics, maxBatch: 500, maxUnacked: 1_000, handler });
  }

  /** Asks again while reported topics turn out to be gone, such as after a broker returned without its disk. */
  private async beginAtEnd(group: string, topics: TopicSelector): Promise<void> {
    const backoff = new Backoff(RETRY_PAUSES);
    for (let attempt = 1; ; attempt++) {
      await this.cluster.refresh();
      const partitions = this.select(topics).flatMap((topic) => this.partitionsOf(topic));
      const ends = await this.offsets.at(partitions, LATEST);
      const commits = partitions.flatMap((each) => {
        const next = ends.get(keyOf(each));
        return next === undefined ? [] : [{ ...each, next, holder: '' }];
      });
      try {
        if (commits.length > 0) await this.offsets.setCommitted(group, commits);
        return;
      } catch (error) {
        const isGone = error instanceof KafkaError && isLeaderMoving(error.code);
        if (!isGone || attempt === TAIL_ATTEMPTS) throw error;
      }
      await pause(backoff.next());
    }
  }

  async read(lane: string, after: number, limit: number): Promise<readonly StoredRecord[]> {
    const { topic, partition } = parseLane(lane);
    const known = await this.find(topic);
    if (!known || partition >= known.leaders.length) return [];
    return this.reader.read({ name: lane, topic }, { topic: known.name, partition }, after, limit);
  }

  async endOf(lane: string): Promise<number> {
    const { topic, partition } = parseLane(lane);
    const known = await this.find(topic);
    if (!known || partition >= known.leaders.length) return 0;
    const id = { topic: known.name, partition };
    return (await this.offsets.at([id], LATEST)).get(keyOf(id)) ?? 0;
  }

  async lag(group: string, topics: TopicSelector): Promise<Readonly<Record<string, number>>> {
    const isKnown = (name: string): boolean => this.cluster.topic(this.full(name)) !== undefined;
    if ('prefix' in topics || !topics.names.every(isKnown)) await this.cluster.refresh();
    const partitions = this.select(topics).flatMap((topic) => this.partitionsOf(topic));
    const [committed, first, end] = await Promise.all([
      this.offsets.committed(this.full(group), partitions),
      this.offsets.reachable(partitions, EARLIEST),
      this.offsets.reachable(partitions, LATEST),
    ]);
    const lag: Record<string, number> = {};
    for (const each of partitions) {
      const key = keyOf(each);
      const read = Math.max(committed.get(key)?.next ?? 0, first.get(key) ?? 0);
      const last = end.get(key);
      if (last !== undefined) lag[this.laneOfPartition(each)] = Math.max(0, last - read);
    }
    return lag;
  }

  async committed(group: string, topic: string): Promise<Readonly<Record<string, number>>> {
    const partitions = this.partitionsOf(await this.find(topic));
    const committed = await this.offsets.committed(this.full(group), partitions);
    return Object.fromEntries(
      partitions.map((each) => [this.laneOfPartition(each), Math.max(0, committed.get(keyOf(each))?.next ?? 0) - 1]),
    );
  }

  async setCommitted(group: string, offsets: Readonly<Record<string, number>>): Promise<void> {
    const commits = Object.entries(offsets).map(([lane, offset]) => {
      const { topic, partition } = parseLane(lane);
      return { topic: this.full(topic), partition, next: offset + 1, holder: '' };
    });
    await this.offsets.setCommitted(this.full(group), commits);
  }

  /** Records since the start that were deleted before a consumer of this process read them, by group. */
  skipped(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.skippedRecords);
  }

  /** Bytes that the consumers of this process hold, and their limit. */
  inHand(): BudgetUsage {
    return this.budget.usage();
  }

  /** Rejects within 2 s, naming the brokers, when none answers. */
  ping(): Promise<void> {
    return this.cluster.ping();
  }

  /** Runs one retention pass over all topics. */
  sweep(): Promise<void> {
    return this.sweeper.sweep();
  }

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    await Promise.all([...this.consumers].map((consumer) => consumer.close()));
    this.pause.wake();
    await this.news.close();
    await this.sweeper.stop();
    await this.publisher.close();
    await this.refreshing;
    this.cluster.close();
  }

  /** Partitions held here, each once even when consumers of several groups hold it. */
  private held(): readonly PartitionId[] {
    const lanes = [...this.consumers].flatMap((consumer) => [...consumer.lanes()]);
    return [...new Map(lanes.map((lane) => [keyOf(lane), lane])).values()];
  }

  private full(name: string): string {
    return this.settings.prefix + name;
  }

  private short(name: string): string {
    return name.slice(this.settings.prefix.length);
  }

  private async find(topic: string): Promise<TopicMetadata | undefined> {
    return this.cluster.topic(this.full(topic)) ?? (await this.cluster.refreshTopic(this.full(topic)));
  }

  private select(selector: TopicSelector): readonly TopicMetadata[] {
    if ('names' in selector) return selector.names.flatMap((name) => this.cluster.topic(this.full(name)) ?? []);
    return [...this.cluster.topics()].filter(({ name }) => isSelected(name, this.settings.prefix, selector));
  }

  private partitionsOf(topic: TopicMetadata | undefined): readonly PartitionId[] {
    return topic?.leaders.map((_, partition) => ({ topic: topic.name, partition })) ?? [];
  }

  private laneOfPartition({ topic, partition }: PartitionId): string {
    return laneName(this.short(topic), partition, this.cluster.topic(topic)?.leaders.length ?? 1);
  }

  /** Waits for the offsets to be dropped, so that a new topic of the same name does not begin in the middle. */
  private async offsetsGone(partitions: readonly PartitionId[]): Promise<void> {
    if (partitions.length === 0) return;
    const until = performance.now() + OFFSETS_GONE_MS;
    const isThere = async (group: string): Promise<boolean> =>
      [...(await this.offsets.committed(group, partitions)).values()].some(({ next }) => next >= 0);
    try {
      for (const group of await this.offsets.groups(this.settings.prefix)) {
        while ((await isThere(group)) && performance.now() < until) await pause(20);
      }
    } catch (error) {
      // A broker is away. The offsets carry the id of their topic, so a new topic begins at its oldest record anyway.
      this.cluster.warn('offsets of a deleted topic could not be looked for', error);
    }
  }

  private async removeMember(group: string, memberId: string): Promise<void> {
    try {
      await leaveGroup(this.cluster, group, memberId);
    } catch (error) {
      this.cluster.warn('the previous process could not be removed from its group', error, { group });
    }
  }

  private isLeaderless(): boolean {
    for (const { name, leaders } of this.cluster.topics()) {
      if (name.startsWith(this.settings.prefix) && leaders.includes(-1)) return true;
    }
    return false;
  }

  /** Refreshes the topic metadata for consumers, in addition to news of topics and answers that name a moved leader. */
  private async refresh(): Promise<void> {
    while (!this.closing) {
      const before = performance.now();
      let failed = false;
      try {
        if (this.consumers.size > 0) await this.cluster.refresh();
      } catch (error) {
        failed = true;
        this.cluster.warn('topics could not be read', error);
      }
      const share = REFRESH_SHARE * (performance.now() - before);
      const isSoon = failed || !this.news.isHeard || this.isLeaderless();
      const [least, most] = isSoon ? [SOON_MS, LONGEST_SOON_MS] : [this.settings.topicsEveryMs, LONGEST_REFRESH_MS];
      await this.pause.wait(Math.max(least, Math.min(most, share)));
    }
  }
}
