import {
  type ConsumeOptions,
  type Consumer,
  type LogRecord,
  type OnSettled,
  type Retention,
  type StoredRecord,
  type StreamLog,
  type Tail,
  type TopicSelector,
} from '../stream-log.js';
import { publishTogether } from '../publish-together.js';
import { InMemoryConsumer, InMemoryGroup, type InMemoryTopic } from './in-memory-lane.js';

const NO_RETENTION: Retention = {};

/** In-memory StreamLog for specs, with one lane per topic. Fulfils the port's contract and drops nothing. */
export class InMemoryStreamLog implements StreamLog {
  private readonly byName = new Map<string, InMemoryTopic>();
  private readonly groups = new Map<string, InMemoryGroup>();
  private readonly tails = new Set<{ topics: TopicSelector; onRecords: (records: readonly StoredRecord[]) => void }>();
  private readonly hanging = new Map<string, ((error?: Error) => void)[]>();
  private onNext: (() => void) | undefined;
  /** Records of every call of `publish`, for specs that count calls. */
  readonly published: (readonly LogRecord[])[] = [];
  /** Awaited before each publish. A spec can throw or wait here. */
  beforePublish: (records: readonly LogRecord[]) => Promise<void> | void = () => undefined;

  /** Runs `act` once, at the next publish. A spec throws in it to make the log fail. */
  onNextPublish(act: () => void): void {
    this.onNext = act;
  }

  /** Stops every consumer as a killed process would. */
  crash(): void {
    for (const { members } of this.groups.values()) for (const member of [...members]) member.crash();
  }

  /** Records of a topic; none when it does not exist. */
  recordsOf(topic: string): readonly StoredRecord[] {
    return this.byName.get(topic)?.records ?? [];
  }

  /** Number of records that the group has not committed. */
  uncommitted(group: string, topic: string): number {
    return this.recordsOf(topic).length - (this.groups.get(group)?.committed.get(topic) ?? 0);
  }

  async createTopic(name: string, _retention: Retention = NO_RETENTION): Promise<void> {
    if (this.byName.has(name)) return;
    this.byName.set(name, { name, records: [] });
    this.share();
  }

  async deleteTopic(topic: string): Promise<void> {
    this.byName.delete(topic);
    for (const { committed } of this.groups.values()) committed.delete(topic);
    this.share();
  }

  async topics(prefix: string): Promise<readonly string[]> {
    return [...this.byName.keys()].filter((name) => name.startsWith(prefix)).sort();
  }

  async lanes(topic: string): Promise<readonly string[]> {
    return this.byName.has(topic) ? [topic] : [];
  }

  async laneOf(topic: string): Promise<string> {
    if (!this.byName.has(topic)) throw new Error(`topic ${topic} does not exist`);
    return topic;
  }

  async publish(records: readonly LogRecord[]): Promise<readonly (number | null)[]> {
    await this.beforePublish(records);
    for (const topic of new Set(records.map((record) => record.topic))) await this.writable(topic);
    const act = this.onNext;
    this.onNext = undefined;
    act?.();
    this.published.push(records);
    return this.append(records);
  }

  /** Publishes the records for writable topics in one call. */
  publishEach(records: readonly LogRecord[], settled: OnSettled): void {
    const written: (readonly [index: number, record: LogRecord])[] = [];
    records.forEach((record, index) => {
      const hanging = this.hanging.get(record.topic);
      if (hanging) hanging.push((error) => settled(index, error ?? this.append([record])[0] ?? null));
      else written.push([index, record]);
    });
    const told: OnSettled = (nth, outcome) => settled(written[nth]?.[0] ?? -1, outcome);
    if (written.length > 0)
      publishTogether(
        this,
        written.map(([, record]) => record),
        told,
      );
  }

  /** Makes the topic unwritable: its records of `publishEach` wait, and so does each call of `publish`. */
  hang(topic: string): void {
    if (!this.hanging.has(topic)) this.hanging.set(topic, []);
  }

  /** Number of records that wait for an unwritable topic. */
  hangingOf(topic: string): number {
    return this.hanging.get(topic)?.length ?? 0;
  }

  /** Refuses the records that wait for an unwritable topic, as a log does after a while. */
  refuse(topic: string): void {
    for (const settle of this.hanging.get(topic)?.splice(0) ?? []) settle(new Error(`${topic} has no leader`));
  }

  /** Makes the topic writable and publishes the records that wait for it. */
  recover(topic: string): void {
    const waiting = this.hanging.get(topic) ?? [];
    this.hanging.delete(topic);
    for (const settle of waiting) settle();
  }

  /** Publishes at once, even if a spec replaced or delays `publish`. */
  append(records: readonly LogRecord[]): readonly (number | null)[] {
    const offsets = records.map((record) => {
      const topic = this.byName.get(record.topic);
      if (!topic) return null;
      const offset = topic.records.length;
      const { key, headers, value } = record;
      const size = Buffer.byteLength(key + JSON.stringify(headers) + value);
      topic.records.push({ ...structuredClone(record), lane: record.topic, offset, timestamp: Date.now(), size });
      return offset;
    });
    for (const { lanes } of this.groups.values()) for (const lane of lanes.values()) lane.pump();
    for (const { topics, onRecords } of this.tails) {
      const stored = records.flatMap((record, i) => {
        const offset = offsets[i];
        const isWanted =
          'prefix' in topics ? record.topic.startsWith(topics.prefix) : topics.names.includes(record.topic);
        const found =
          isWanted && typeof offset === 'number' ? this.byName.get(record.topic)?.records[offset] : undefined;
        return found ? [found] : [];
      });
      if (stored.length > 0) onRecords(stored);
    }
    return offsets;
  }

  async consume(options: ConsumeOptions): Promise<Consumer> {
    const group = this.groupOf(options.group);
    const consumer = new InMemoryConsumer(options, group, this.byName);
    group.members.push(consumer);
    group.share(this.byName);
    return consumer;
  }

  async tail(topics: TopicSelector, onRecords: (records: readonly StoredRecord[]) => void): Promise<Tail> {
    const tail = { topics, onRecords };
    this.tails.add(tail);
    return { close: async () => void this.tails.delete(tail) };
  }

  async read(lane: string, after: number, limit: number): Promise<readonly StoredRecord[]> {
    return structuredClone(this.recordsOf(lane).slice(after + 1, after + 1 + limit));
  }

  async endOf(lane: string): Promise<number> {
    return this.recordsOf(lane).length;
  }

  async lag(group: string, topics: TopicSelector): Promise<Readonly<Record<string, number>>> {
    const names =
      'prefix' in topics ? await this.topics(topics.prefix) : topics.names.filter((name) => this.byName.has(name));
    return Object.fromEntries(names.map((name) => [name, this.uncommitted(group, name)]));
  }

  async committed(group: string, topic: string): Promise<Readonly<Record<string, number>>> {
    return this.byName.has(topic) ? { [topic]: (this.groups.get(group)?.committed.get(topic) ?? 0) - 1 } : {};
  }

  async setCommitted(name: string, offsets: Readonly<Record<string, number>>): Promise<void> {
    const group = this.groupOf(name);
    if (group.members.length > 0) throw new Error(`group ${name} has consumers: close them before its offsets are set`);
    for (const lane of Object.keys(offsets)) await this.laneOf(lane);
    for (const [lane, offset] of Object.entries(offsets)) group.committed.set(lane, offset + 1);
  }

  private writable(topic: string): Promise<void> | undefined {
    const hanging = this.hanging.get(topic);
    if (!hanging) return undefined;
    return new Promise((resolve, reject) => hanging.push((error) => (error ? reject(error) : resolve())));
  }

  private groupOf(name: string): InMemoryGroup {
    const group = this.groups.get(name) ?? new InMemoryGroup();
    this.groups.set(name, group);
    return group;
  }

  private share(): void {
    for (const group of this.groups.values()) group.share(this.byName);
  }
}
