import { EngineUnavailable } from '#libs/kernel/engine-unavailable.js';
import { type Clock } from '#libs/kernel/clock.js';
import {
  type ConsumeOptions,
  type Consumer,
  type LogRecord,
  type PublishOptions,
  type Retention,
  type StoredRecord,
  type StreamLog,
  type Tail,
  type TopicSelector,
} from '#libs/stream-log/stream-log.js';
import { publishTogether } from '#libs/stream-log/publish-together.js';
import { type BudgetUsage, FetchBudget } from '../../fetch-budget.js';
import { CommitWriter } from './commit-writer.js';
import { EmbeddedConsumer } from './consumer.js';
import { BATCH_BYTES, Fetcher, readRecords } from './fetcher.js';
import { Group, selects } from './group.js';
import { type Lane } from './lane.js';
import { LaneAssigner } from './lane-assigner.js';
import { loadLog } from './load-log.js';
import { countRecords } from './chunks.js';
import { type PreparedRecord, PreparedRecords } from './prepared-records.js';
import { offsetAt, type Offsets } from '../writer/ops.js';
import { RetentionSweeper } from './retention.js';
import { type Database } from '../writer/sqlite-driver.js';
import { type LiveReader, TailCache } from './tail-cache.js';
import { Topic } from './topic.js';
import { LANES_PER_TURN, nextTurn, ROWS_PER_TURN } from '../yielding.js';
import { type OnWritten, type Writer } from '../writer/writer.js';

const TAIL_BYTES = 32 << 20;

/** StreamLog on data.db. A topic is one lane. Publishes wake the consumers, which all run in this process. */
export class EmbeddedStreamLog implements StreamLog {
  private readonly byName: Map<string, Topic>;
  private readonly groups: Map<string, Group>;
  private readonly tails = new TailCache(TAIL_BYTES);
  private readonly budget: FetchBudget;
  private readonly fetcher: Fetcher;
  private readonly commits: CommitWriter;
  readonly publishEach: StreamLog['publishEach'] = (records, settled, options) =>
    publishTogether(this, records, settled, options);
  private readonly sweeper: RetentionSweeper;
  private readonly sharing: LaneAssigner;
  private readonly awake = new Set<Lane>();
  private readonly live = new Set<LiveReader>();
  /** Highest offset known to be durable. */
  private durable: number;

  constructor(
    private readonly writer: Writer,
    private readonly reader: Database,
    private readonly clock: Clock,
    fetchBytes?: number,
  ) {
    const { topics, groups, lastId } = loadLog(reader, clock.now());
    this.byName = topics;
    this.groups = groups;
    this.durable = lastId;
    const budget = (this.budget = new FetchBudget(fetchBytes));
    this.fetcher = new Fetcher(reader, () => this.durable, budget);
    this.commits = new CommitWriter(writer, (topic) => this.droppable(topic));
    this.sharing = new LaneAssigner({
      tails: this.tails,
      budget,
      fetcher: this.fetcher,
      commits: this.commits,
      wake: (lane) => this.wake(lane),
      count: (topic, after) => this.count(topic, after),
      durable: () => this.durable,
      exists: (topic) => this.byName.get(topic.name) === topic,
    });
    this.sweeper = new RetentionSweeper({
      writer,
      reader,
      clock,
      topics: () => this.byName.values(),
      committedByAll: (topic) => this.committedByAll(topic),
    });
  }

  async createTopic(name: string, retention: Retention): Promise<void> {
    const args = {
      name,
      ageMs: retention.ageMs ?? null,
      bytes: retention.bytes ?? null,
      dropConsumed: retention.dropConsumed ?? false,
    };
    await new Promise<void>((resolve, reject) => {
      this.writer.send('create_topic', args, (error, id) => {
        if (error || id === undefined) {
          reject(error ?? new Error('the writer gave no result'));
          return;
        }
        this.created(id, name, retention);
        resolve();
      });
    });
  }

  async deleteTopic(name: string): Promise<void> {
    const topic = this.byName.get(name);
    if (!topic) return;
    await new Promise<void>((resolve, reject) => {
      this.writer.send('delete_topic', { id: topic.id, name }, (error) => {
        if (error) {
          reject(error);
          return;
        }
        this.deleted(topic);
        resolve();
      });
    });
    this.sweeper.purgeSoon();
  }

  async topics(prefix: string): Promise<readonly string[]> {
    return [...this.byName.keys()].filter((name) => name.startsWith(prefix)).sort();
  }

  async lanes(topic: string): Promise<readonly string[]> {
    return this.byName.has(topic) ? [topic] : [];
  }

  async laneOf(topic: string): Promise<string> {
    if (!this.byName.has(topic)) throw new EngineUnavailable('the data directory', `topic ${topic} does not exist`);
    return topic;
  }

  publish(records: readonly LogRecord[], { lingerMs = 0 }: PublishOptions = {}): Promise<readonly (number | null)[]> {
    const at = this.clock.now();
    const prepared = new PreparedRecords((name) => this.byName.get(name), at).addAll(records);
    if (prepared.records.length === 0) return Promise.resolve(records.map(() => null));
    return new Promise((resolve, reject) => {
      const written: OnWritten<'publish'> = (error, offsets) => {
        if (error || offsets === undefined) {
          reject(error ?? new Error('the writer gave no result'));
          return;
        }
        this.appended(prepared.records, offsets, at);
        const all: (number | null)[] = Array.from(records, () => null);
        prepared.records.forEach(({ index }, i) => {
          all[index] = offsetAt(offsets, i);
        });
        resolve(all);
      };
      this.writer.send('publish', null, written, { bytes: prepared.bytes, records: prepared, lingerMs });
    });
  }

  async consume(options: ConsumeOptions): Promise<Consumer> {
    const now = this.clock.now();
    const group = this.groups.get(options.group) ?? new Group(options.group, now);
    if (group.members.size > 0)
      throw new Error(`group ${options.group} has a consumer, and may have one in this process`);
    this.groups.set(options.group, group);
    const prefix = 'prefix' in options.topics;
    const names = 'prefix' in options.topics ? [options.topics.prefix] : [...options.topics.names];
    for (const name of names) group.add(name, prefix);
    group.seenAt = now;
    const consumer = new EmbeddedConsumer(options, group, (member) => this.leave(group, member));
    group.members.add(consumer);
    // The group is durable before it receives a record, because retention must know which groups still have to read.
    await this.writer.submit('group', { name: group.name, topics: names, prefix, at: now });
    await this.sharing.spread(group, [...this.byName.values()]);
    return consumer;
  }

  async tail(topics: TopicSelector, onRecords: LiveReader['onRecords']): Promise<Tail> {
    const reader: LiveReader = { topics, onRecords };
    this.live.add(reader);
    return { close: async () => void this.live.delete(reader) };
  }

  async read(lane: string, after: number, limit: number): Promise<readonly StoredRecord[]> {
    const known = this.byName.get(lane);
    const records: StoredRecord[] = [];
    let position = after;
    let bytes = 0;
    while (known && records.length < limit && bytes <= BATCH_BYTES) {
      const wanted = Math.min(limit - records.length, ROWS_PER_TURN);
      const range = { after: position, upTo: this.durable, limit: wanted };
      const { records: more, complete } = readRecords(this.reader, known, range);
      for (const record of more) {
        records.push(record);
        bytes += record.size;
      }
      position = records.at(-1)?.offset ?? position;
      if (complete) break;
      if (records.length < limit) await nextTurn();
    }
    return records;
  }

  async endOf(lane: string): Promise<number> {
    return (this.byName.get(lane)?.lastId ?? -1) + 1;
  }

  async lag(groupName: string, topics: TopicSelector): Promise<Readonly<Record<string, number>>> {
    const group = this.groups.get(groupName);
    const lag: Record<string, number> = {};
    let counted = 0;
    for (const topic of this.selected(topics)) {
      const committed = group?.committedOf(topic) ?? -1;
      lag[topic.name] = this.count(topic, committed).n;
      if (++counted % LANES_PER_TURN === 0) await nextTurn();
    }
    return lag;
  }

  async committed(groupName: string, topic: string): Promise<Readonly<Record<string, number>>> {
    const known = this.byName.get(topic);
    return known ? { [topic]: this.groups.get(groupName)?.committedOf(known) ?? -1 } : {};
  }

  async setCommitted(groupName: string, offsets: Readonly<Record<string, number>>): Promise<void> {
    const group = this.groups.get(groupName) ?? new Group(groupName, this.clock.now());
    if (group.members.size > 0)
      throw new Error(`group ${groupName} has consumers: close them before its offsets are set`);
    const rows: number[] = [];
    for (const [lane, offset] of Object.entries(offsets)) {
      const topic = this.byName.get(lane);
      if (!topic) throw new Error(`lane ${lane} does not exist`);
      rows.push(topic.id, offset);
    }
    await this.writer.submit('commit', [{ group: groupName, rows }]);
    this.groups.set(groupName, group);
    for (let i = 0; i < rows.length; i += 2) group.committed.set(rows[i] ?? -1, rows[i + 1] ?? -1);
  }

  /** For the run journal, which writes emits in its own operation. Many records take several event loop turns. */
  prepareAll(records: readonly LogRecord[], at: number): Promise<PreparedRecords> {
    return new PreparedRecords((name) => this.byName.get(name), at).addInTurns(records);
  }

  /** Counts, caches and wakes for durable records. Called in the order of the writes. */
  appended(records: readonly PreparedRecord[], offsets: Offsets, timestamp: number): void {
    for (let i = 0; i < records.length; i++) {
      const offset = offsetAt(offsets, i);
      const prepared = records[i];
      if (offset === null || !prepared) continue;
      const { topic, size } = prepared;
      const stored = storedFrom(prepared, offset, timestamp);
      this.tails.add(topic, stored);
      for (const { topics, onRecords } of this.live) if (selects(topics, topic.name)) onRecords([stored]);
      topic.lastId = this.durable = offset;
      if (topic.bytes !== undefined) topic.bytes += size;
      for (const lane of topic.lanes) {
        lane.backlog++;
        lane.bytes += size;
        this.groupOf(lane).backlog++;
        this.wake(lane);
      }
    }
  }

  sweep(): Promise<void> {
    return this.sweeper.sweep();
  }

  /** Bytes held for consumers, and why the last background pass failed. */
  health(): { tailBytes: number; inHand: BudgetUsage; retentionFailure: string | null } {
    const { failure } = this.sweeper;
    return {
      tailBytes: this.tails.bytes,
      inHand: this.budget.usage(),
      retentionFailure: failure === undefined ? null : failure instanceof Error ? failure.message : 'unknown',
    };
  }

  /** Stops delivering, waits for running handlers and writes the last commits. */
  async close(): Promise<void> {
    const members = [...this.groups.values()].flatMap((group) => [...group.members]);
    await Promise.all(members.map((member) => member.close()));
    this.fetcher.stop();
    await this.sweeper.stop();
    await this.commits.stop();
  }

  private groupOf(lane: Lane): Group {
    const group = this.groups.get(lane.options.group);
    if (!group) throw new Error(`group ${lane.options.group} is unknown`);
    return group;
  }

  private wake(lane: Lane): void {
    this.awake.add(lane);
    if (this.awake.size > 1) return;
    queueMicrotask(() => {
      const lanes = [...this.awake];
      this.awake.clear();
      for (const each of lanes) each.pump();
    });
  }

  private created(id: number, name: string, retention: Retention): void {
    const existing = this.byName.get(name);
    if (existing) {
      existing.retention = retention;
      return;
    }
    const topic = new Topic(id, name, retention, this.durable);
    this.byName.set(name, topic);
    for (const group of this.groups.values()) this.sharing.give(group, topic);
  }

  private deleted(topic: Topic): void {
    if (this.byName.get(topic.name) !== topic) return;
    this.byName.delete(topic.name);
    this.commits.forget(topic);
    for (const group of this.groups.values()) {
      const lane = group.lanes.get(topic.id);
      if (lane) this.sharing.withdraw(group, lane);
      group.forgetTopic(topic);
    }
    this.tails.drop(topic);
  }

  private async leave(group: Group, consumer: EmbeddedConsumer): Promise<void> {
    const lanes = [...consumer.lanes.values()];
    for (const lane of lanes) this.sharing.detach(group, lane);
    consumer.lanes.clear();
    group.seenAt = this.clock.now();
    await this.commits.flush();
    await this.sharing.spread(
      group,
      lanes.map(({ topic }) => topic),
    );
  }

  private selected(topics: TopicSelector): readonly Topic[] {
    if ('prefix' in topics) return [...this.byName.values()].filter(({ name }) => selects(topics, name));
    return [...new Set(topics.names)].flatMap((name) => this.byName.get(name) ?? []);
  }

  private count(topic: Topic, after: number): { n: number; bytes: number } {
    return countRecords(this.reader, topic.id, { after, upTo: this.durable });
  }

  /** Highest offset that all groups have committed; Infinity when no group reads the topic. */
  private committedByAll(topic: Topic): number {
    const now = this.clock.now();
    let lowest = Number.POSITIVE_INFINITY;
    for (const group of this.groups.values()) {
      if (group.needs(topic.name, now)) lowest = Math.min(lowest, group.committedOf(topic));
    }
    return lowest;
  }

  private droppable(topic: Topic): number {
    const lowest = this.committedByAll(topic);
    return lowest === Number.POSITIVE_INFINITY ? -1 : lowest;
  }
}

const storedFrom = ({ record, size }: PreparedRecord, offset: number, timestamp: number): StoredRecord => ({
  topic: record.topic,
  lane: record.topic,
  key: record.key,
  headers: record.headers,
  value: record.value,
  offset,
  timestamp,
  size,
});
