import { revocation } from '../revocation.js';
import { type ConsumeOptions, type Consumer, type LaneBatch, type StoredRecord } from '../stream-log.js';

export interface InMemoryTopic {
  readonly name: string;
  readonly records: StoredRecord[];
}

/** Commits of a group (number of records by topic), and the owner of each topic. */
export class InMemoryGroup {
  readonly committed = new Map<string, number>();
  readonly members: InMemoryConsumer[] = [];
  readonly lanes = new Map<InMemoryTopic, InMemoryLane>();

  committedOf({ name }: InMemoryTopic): number {
    return this.committed.get(name) ?? 0;
  }

  backlogOf(topic: InMemoryTopic): number {
    return topic.records.length - this.committedOf(topic);
  }

  /** Assigns topics without an owner, revokes those that another member should own, and forgets deleted ones. */
  share(topics: ReadonlyMap<string, InMemoryTopic>): void {
    for (const [topic, lane] of this.lanes) if (topics.get(topic.name) !== topic) this.revoke(lane, topics);
    let turn = 0;
    for (const topic of [...topics.values()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const takers = this.members.filter((member) => member.selects(topic.name));
      const owner = takers[turn++ % takers.length];
      const lane = this.lanes.get(topic);
      if (lane && lane.owner !== owner) this.revoke(lane, topics);
      if (lane || !owner) continue;
      const given = new InMemoryLane(topic, owner, this);
      this.lanes.set(topic, given);
      given.pump();
    }
  }

  private revoke(lane: InMemoryLane, topics: ReadonlyMap<string, InMemoryTopic>): void {
    const gone = topics.get(lane.topic.name) !== lane.topic;
    if (gone) this.lanes.delete(lane.topic);
    if (lane.revoked) return;
    lane.revoked = true;
    lane.detached = gone;
    void lane.revoke().then(() => {
      lane.detached = true;
      if (this.lanes.get(lane.topic) === lane) this.lanes.delete(lane.topic);
      this.share(topics);
    });
  }
}

/** Progress of one consumer through one topic. */
export class InMemoryLane {
  revoked = false;
  /** True once its acknowledgements no longer count. */
  detached = false;
  running: Promise<void> | undefined;
  private next: number;
  private used = false;
  private again: readonly StoredRecord[] = [];
  private readonly acked = new Set<number>();

  constructor(
    readonly topic: InMemoryTopic,
    readonly owner: InMemoryConsumer,
    private readonly group: InMemoryGroup,
  ) {
    this.next = group.committedOf(topic);
  }

  pump(): void {
    if (this.running || this.revoked) return;
    const { maxBatch, maxUnacked } = this.owner.options;
    const again = this.again.filter(({ offset }) => !this.isAcked(offset));
    this.again = [];
    const unacked = this.next - this.group.committedOf(this.topic) - this.acked.size;
    const room = Math.max(0, Math.min(maxBatch, maxUnacked - unacked));
    const records = again.length > 0 ? again : this.topic.records.slice(this.next, this.next + room);
    if (records.length === 0) return;
    if (again.length === 0) this.next += records.length;
    this.used = true;
    this.running = this.handOver(records);
  }

  revoke(): Promise<void> {
    if (!this.used) return Promise.resolve();
    return revocation(this.topic.name, this.owner.options.onRevoked, this.running, () => this.owner.countFailure());
  }

  private async handOver(records: readonly StoredRecord[]): Promise<void> {
    const { name } = this.topic;
    const batch: LaneBatch = {
      lane: name,
      topic: name,
      records,
      ack: (offset) => this.ack(offset),
      revoked: () => this.revoked,
    };
    await new Promise<void>((resolve) => setImmediate(resolve));
    try {
      await this.owner.options.handler(batch);
    } catch (error) {
      if (error === undefined) throw new Error('a handler rejected without a reason');
      this.owner.countFailure();
      this.again = records;
      await new Promise<void>((resolve) => setTimeout(resolve, 1));
    }
    this.running = undefined;
    this.pump();
  }

  private isAcked(offset: number): boolean {
    return offset < this.group.committedOf(this.topic) || this.acked.has(offset);
  }

  private ack(offset: number): void {
    if (this.detached || offset < 0 || offset >= this.next || this.isAcked(offset)) return;
    this.acked.add(offset);
    let committed = this.group.committedOf(this.topic);
    while (this.acked.delete(committed)) committed++;
    this.group.committed.set(this.topic.name, committed);
    this.pump();
  }
}

/** One consumer of a group. Processes one batch per lane at a time, and repeats a rejected one. */
export class InMemoryConsumer implements Consumer {
  private failed = 0;
  private closed: Promise<void> | undefined;

  constructor(
    readonly options: ConsumeOptions,
    private readonly group: InMemoryGroup,
    private readonly topics: ReadonlyMap<string, InMemoryTopic>,
  ) {}

  selects(topic: string): boolean {
    const { topics } = this.options;
    return 'prefix' in topics ? topic.startsWith(topics.prefix) : topics.names.includes(topic);
  }

  close(): Promise<void> {
    this.closed ??= this.end();
    return this.closed;
  }

  /** Leaves the group as a crash does, without waiting and without further commits. */
  crash(): void {
    this.leave(this.revoke());
  }

  backlog(): number {
    const selected = [...this.topics.values()].filter(({ name }) => this.selects(name));
    return selected.reduce((sum, topic) => sum + this.group.backlogOf(topic), 0);
  }

  backlogOf(lane: string): number {
    const topic = this.selects(lane) ? this.topics.get(lane) : undefined;
    return topic ? this.group.backlogOf(topic) : 0;
  }

  unreadBytesOf(lane: string): number {
    const topic = this.selects(lane) ? this.topics.get(lane) : undefined;
    const unread = topic?.records.slice(this.group.committedOf(topic)) ?? [];
    return unread.reduce((sum, { size }) => sum + size, 0);
  }

  failures(): number {
    return this.failed;
  }

  countFailure(): void {
    this.failed++;
  }

  private async end(): Promise<void> {
    const lanes = this.revoke();
    for (const { running } of lanes) await running;
    this.leave(lanes);
  }

  private revoke(): readonly InMemoryLane[] {
    const lanes = [...this.group.lanes.values()].filter(({ owner }) => owner === this);
    for (const lane of lanes) lane.revoked = true;
    return lanes;
  }

  private leave(lanes: readonly InMemoryLane[]): void {
    const at = this.group.members.indexOf(this);
    if (at >= 0) this.group.members.splice(at, 1);
    for (const lane of lanes) {
      lane.detached = true;
      if (this.group.lanes.get(lane.topic) === lane) this.group.lanes.delete(lane.topic);
    }
    this.group.share(this.topics);
  }
}
