import {
  type ConsumeOptions,
  type Consumer,
  type LaneBatch,
  type LogRecord,
  type Retention,
  type StoredRecord,
  type StreamLog,
  type TopicSelector,
} from '../stream-log.js';

interface Topic {
  readonly records: StoredRecord[];
  readonly retention: Retention;
  deleted: boolean;
}

const selects = (selector: TopicSelector, topic: string): boolean =>
  'prefix' in selector ? topic.startsWith(selector.prefix) : selector.names.includes(topic);

/** A whole StreamLog for specs, one lane per topic: keeps the port's promises, survives nothing. */
export class InMemoryStreamLog implements StreamLog {
  private readonly byName = new Map<string, Topic>();
  private readonly commits = new Map<string, Map<string, number>>();
  private readonly consumers = new Set<LaneReader>();
  private beforePublish: (() => void) | undefined;
  /** Every call of `publish`, for specs that count them. */
  readonly published: (readonly LogRecord[])[] = [];

  /** Runs once, at the next publish: throw in it to say that the log cannot write. */
  onNextPublish(act: () => void): void {
    this.beforePublish = act;
  }

  async createTopic(topic: string, retention: Retention): Promise<void> {
    const existing = this.byName.get(topic);
    this.byName.set(topic, existing ? { ...existing, retention } : { records: [], retention, deleted: false });
  }

  async deleteTopic(topic: string): Promise<void> {
    const existing = this.byName.get(topic);
    if (existing) existing.deleted = true;
    this.byName.delete(topic);
    for (const commits of this.commits.values()) commits.delete(topic);
  }

  async topics(prefix: string): Promise<readonly string[]> {
    return [...this.byName.keys()].filter((name) => name.startsWith(prefix)).sort();
  }

  async publish(records: readonly LogRecord[]): Promise<readonly (number | null)[]> {
    const act = this.beforePublish;
    this.beforePublish = undefined;
    act?.();
    this.published.push(records);
    const offsets = records.map((record) => {
      const topic = this.byName.get(record.topic);
      if (!topic) return null;
      const offset = topic.records.length;
      topic.records.push({ ...structuredClone(record), lane: record.topic, offset, timestamp: Date.now() });
      return offset;
    });
    for (const consumer of this.consumers) consumer.wake();
    return offsets;
  }

  async consume(options: ConsumeOptions): Promise<Consumer> {
    const commits = this.commits.get(options.group) ?? new Map<string, number>();
    this.commits.set(options.group, commits);
    const lanes = (): ReadonlyMap<string, Topic> =>
      new Map([...this.byName].filter(([name]) => selects(options.topics, name)));
    const reader = new LaneReader(options, commits, lanes, () => this.consumers.delete(reader));
    this.consumers.add(reader);
    reader.wake();
    return reader;
  }

  async read(topic: string, after: number, limit: number): Promise<readonly StoredRecord[]> {
    const records = this.byName.get(topic)?.records ?? [];
    return structuredClone(records.filter(({ offset }) => offset > after).slice(0, limit));
  }

  async lag(group: string, topics: TopicSelector): Promise<Readonly<Record<string, number>>> {
    const commits = this.commits.get(group);
    const lanes = [...this.byName].filter(([name]) => selects(topics, name));
    return Object.fromEntries(lanes.map(([name, { records }]) => [name, records.length - (commits?.get(name) ?? 0)]));
  }
}

/** One consumer of a group: per lane one batch at a time, the rejected one again. */
class LaneReader implements Consumer {
  private readonly running = new Map<string, Promise<void>>();
  private readonly handedOver = new Map<string, number>();
  private readonly acked = new Map<string, Set<number>>();
  private closed = false;
  private failed = 0;

  constructor(
    private readonly options: ConsumeOptions,
    /** Per lane, the number of records committed. */
    private readonly commits: Map<string, number>,
    private readonly lanes: () => ReadonlyMap<string, Topic>,
    private readonly onClose: () => void,
  ) {}

  wake(): void {
    if (this.closed) return;
    for (const [lane, topic] of this.lanes()) {
      if (this.running.has(lane)) continue;
      const next = this.handedOver.get(lane) ?? this.commits.get(lane) ?? 0;
      const room = (this.commits.get(lane) ?? 0) + this.options.maxUnacked - next;
      const records = topic.records.slice(next, next + Math.min(room, this.options.maxBatch));
      if (records.length > 0) this.running.set(lane, this.handOver(lane, topic, records));
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all(this.running.values());
    this.onClose();
  }

  backlog(): number {
    return [...this.lanes().keys()].reduce((sum, lane) => sum + this.backlogOf(lane), 0);
  }

  backlogOf(lane: string): number {
    return (this.lanes().get(lane)?.records.length ?? 0) - (this.commits.get(lane) ?? 0);
  }

  failures(): number {
    return this.failed;
  }

  private async handOver(lane: string, topic: Topic, records: readonly StoredRecord[]): Promise<void> {
    const first = records[0] as StoredRecord;
    this.handedOver.set(lane, first.offset + records.length);
    const batch: LaneBatch = {
      lane,
      topic: first.topic,
      records,
      ack: (offset) => this.ack(lane, offset),
      revoked: () => this.closed || topic.deleted,
    };
    await new Promise<void>((resolve) => setImmediate(resolve));
    try {
      await this.options.handler(batch);
    } catch (error) {
      if (error === undefined) throw new Error('a handler rejected without a reason');
      this.failed++;
      this.handedOver.set(lane, this.commits.get(lane) ?? 0);
      await new Promise<void>((resolve) => setTimeout(resolve, 1));
    }
    this.running.delete(lane);
    this.wake();
  }

  private ack(lane: string, offset: number): void {
    const acked = this.acked.get(lane) ?? new Set<number>();
    this.acked.set(lane, acked.add(offset));
    let committed = this.commits.get(lane) ?? 0;
    while (acked.delete(committed)) committed++;
    this.commits.set(lane, committed);
    this.wake();
  }
}
