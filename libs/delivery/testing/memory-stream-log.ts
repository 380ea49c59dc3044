import {
  type Consumer,
  type ConsumeOptions,
  type LogRecord,
  type StoredRecord,
  type StreamLog,
  type TopicSelector,
} from '#libs/stream-log/stream-log.js';

const matches = (selector: TopicSelector, topic: string): boolean =>
  'prefix' in selector ? topic.startsWith(selector.prefix) : selector.names.includes(topic);

/** One lane of one consumer: how far it was handed out, and what of that is acknowledged. */
class MemoryLane {
  next: number;
  running = false;
  readonly acked = new Set<number>();

  constructor(readonly committed: number) {
    this.next = committed;
  }
}

class MemoryConsumer implements Consumer {
  closed = false;
  private readonly lanes = new Map<string, MemoryLane>();
  private readonly handlers = new Set<Promise<void>>();
  private failed = 0;

  constructor(
    private readonly log: MemoryStreamLog,
    private readonly options: ConsumeOptions,
  ) {}

  poll(): void {
    for (const topic of this.log.records.keys()) if (matches(this.options.topics, topic)) this.pollLane(topic);
  }

  private pollLane(topic: string): void {
    const { group, maxBatch, maxUnacked, handler } = this.options;
    const committed = this.log.committed(group, topic);
    const lane = this.lanes.get(topic) ?? new MemoryLane(committed);
    this.lanes.set(topic, lane);
    const room = Math.min(maxBatch, maxUnacked - (lane.next - committed - lane.acked.size));
    const all = this.log.records.get(topic) ?? [];
    const records = all.slice(lane.next, lane.next + Math.max(0, room));
    if (this.closed || lane.running || records.length === 0) return;
    lane.running = true;
    lane.next += records.length;
    const first = records[0]?.offset ?? 0;
    const work = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() =>
        handler({
          lane: topic,
          topic,
          records,
          ack: (offset) => this.ack(topic, lane, offset),
          revoked: () => this.closed || !this.log.records.has(topic),
        }),
      )
      .catch(() => {
        this.failed++;
        lane.next = first;
      })
      .finally(() => {
        lane.running = false;
        this.handlers.delete(work);
        this.pollLane(topic);
      });
    this.handlers.add(work);
  }

  private ack(topic: string, lane: MemoryLane, offset: number): void {
    if (this.closed) return;
    lane.acked.add(offset);
    let committed = this.log.committed(this.options.group, topic);
    while (lane.acked.delete(committed)) committed++;
    this.log.commit(this.options.group, topic, committed);
    this.pollLane(topic);
  }

  /** As a crash leaves it: no more commits, nothing waited for. */
  crash(): void {
    this.closed = true;
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all(this.handlers);
  }

  backlog(): number {
    return [...this.log.records.keys()].reduce((sum, topic) => sum + this.backlogOf(topic), 0);
  }

  backlogOf(lane: string): number {
    if (!matches(this.options.topics, lane)) return 0;
    return (this.log.records.get(lane)?.length ?? 0) - this.log.committed(this.options.group, lane);
  }

  failures(): number {
    return this.failed;
  }
}

/** StreamLog for the tests of this lib: one lane a topic, in memory, with failures on demand. */
export class MemoryStreamLog implements StreamLog {
  readonly records = new Map<string, StoredRecord[]>();
  /** Awaited before each publish: throw or wait here. */
  beforePublish: (records: readonly LogRecord[]) => Promise<void> | void = () => undefined;
  private readonly commits = new Map<string, number>();
  private readonly consumers = new Set<MemoryConsumer>();

  async createTopic(topic: string): Promise<void> {
    if (!this.records.has(topic)) this.records.set(topic, []);
  }

  async deleteTopic(topic: string): Promise<void> {
    this.records.delete(topic);
  }

  async topics(prefix: string): Promise<readonly string[]> {
    return [...this.records.keys()].filter((topic) => topic.startsWith(prefix));
  }

  async publish(records: readonly LogRecord[]): Promise<readonly (number | null)[]> {
    await this.beforePublish(records);
    const offsets = records.map((record) => {
      const lane = this.records.get(record.topic);
      if (lane === undefined) return null;
      return lane.push({ ...record, lane: record.topic, offset: lane.length, timestamp: Date.now() }) - 1;
    });
    for (const consumer of this.consumers) consumer.poll();
    return offsets;
  }

  async consume(options: ConsumeOptions): Promise<Consumer> {
    const consumer = new MemoryConsumer(this, options);
    this.consumers.add(consumer);
    consumer.poll();
    return consumer;
  }

  async read(topic: string, after: number, limit: number): Promise<readonly StoredRecord[]> {
    return (this.records.get(topic) ?? []).slice(after + 1, after + 1 + limit);
  }

  async lag(group: string, topics: TopicSelector): Promise<Readonly<Record<string, number>>> {
    const named = [...this.records].filter(([topic]) => matches(topics, topic));
    return Object.fromEntries(named.map(([topic, { length }]) => [topic, length - this.committed(group, topic)]));
  }

  /** Every consumer stops as a killed process does. */
  crash(): void {
    for (const consumer of this.consumers) consumer.crash();
    this.consumers.clear();
  }

  committed(group: string, topic: string): number {
    return this.commits.get(`${group} ${topic}`) ?? 0;
  }

  commit(group: string, topic: string, offset: number): void {
    this.commits.set(`${group} ${topic}`, offset);
  }
}
