import { type ConsumeOptions } from '#libs/stream-log/stream-log.js';
import { revocation } from '#libs/stream-log/revocation.js';
import { type FetchBudget } from '../../fetch-budget.js';
import { laneName, parseLane, type PartitionId } from '../lane-names.js';
import { type TopicMetadata } from '../wire/cluster.js';
import { KafkaLane, type StartOfLane } from './kafka-lane.js';
import { keyOf, type Commit } from './offsets.js';

export interface HeldLanesHost {
  /** The lane may have room for more records. */
  wanting(lane: KafkaLane): void;
  /** The lane with this key has a new offset to commit. */
  committed(key: string): void;
  /** Writes a lane's last commit. Resolves, written or not, when the lane may have another owner. */
  commitLast(commits: readonly Commit[]): Promise<unknown>;
  /** A lane's release has ended, so this member may claim it again. */
  released(): void;
  /** See LaneBatch. */
  inDoubt(): Promise<void> | undefined;
}

/**
 * The lanes that one consumer holds, by their keys, and those that it is releasing. A release ends when the consumer's
 * handler has ended and the last commit is written.
 */
export class HeldLanes {
  private readonly held = new Map<string, KafkaLane>();
  private readonly releasing = new Map<string, Promise<void>>();
  private failed = 0;

  /** `prefix`: that of all topic names of this installation. */
  constructor(
    private readonly prefix: string,
    private readonly options: ConsumeOptions,
    private readonly budget: FetchBudget,
    private readonly host: HeldLanesHost,
  ) {}

  /** Number of rejections of the consumer's handler and of its `onRevoked`. */
  get failures(): number {
    return this.failed;
  }

  /** The lanes that are held. A lane may be released while this is iterated. */
  values(): Iterable<KafkaLane> {
    return this.held.values();
  }

  get(key: string): KafkaLane | undefined {
    return this.held.get(key);
  }

  /** Whether the lane is held or still being released. */
  has(partition: PartitionId): boolean {
    const key = keyOf(partition);
    return this.held.has(key) || this.releasing.has(key);
  }

  /**
   * Finds the held lane of this name. Its topic may have been recreated with other partitions, and then the name
   * differs.
   */
  named(name: string): KafkaLane | undefined {
    const { topic, partition } = parseLane(name);
    const lane = this.held.get(keyOf({ topic: this.prefix + topic, partition }));
    return lane?.name === name ? lane : undefined;
  }

  backlog(): number {
    let sum = 0;
    for (const lane of this.held.values()) sum += lane.backlog;
    return sum;
  }

  /** Begins to hold a partition of the topic, unless it is already held. */
  hold(
    { name: topic, id: topicId, leaders }: Pick<TopicMetadata, 'name' | 'id' | 'leaders'>,
    partition: number,
    start: StartOfLane,
  ): void {
    const key = keyOf({ topic, partition });
    if (this.held.has(key)) return;
    const shortTopic = topic.slice(this.prefix.length);
    const name = laneName(shortTopic, partition, leaders.length);
    const lane = new KafkaLane({ name, shortTopic, topic, topicId, partition }, start, this.options, this.budget, {
      wanting: (each) => this.host.wanting(each),
      committed: () => this.host.committed(key),
      failed: () => this.failed++,
      inDoubt: () => this.host.inDoubt(),
    });
    this.held.set(key, lane);
    this.host.wanting(lane);
  }

  /** Releases a lane that another member owns, once the consumer's handler has ended and the last commit is written. */
  release(lane: KafkaLane): void {
    this.giveUp(lane, async () => {
      await this.revoked(lane);
      await this.host.commitLast([lane.commitBy('')]);
      lane.window.detach();
    });
  }

  /** Releases a lane whose topic is gone. Nothing is committed and no process waits for it. */
  withdraw(lane: KafkaLane): void {
    this.giveUp(lane, () => {
      lane.window.detach();
      return this.revoked(lane);
    });
  }

  /**
   * Releases all lanes without a commit, because other members own them. Resolves when the consumer's handlers have
   * ended.
   */
  async loseAll(): Promise<void> {
    const lanes = [...this.held.values()];
    this.held.clear();
    for (const lane of lanes) {
      lane.revoke();
      lane.window.detach();
    }
    await Promise.all([...lanes.map((lane) => this.revoked(lane)), ...this.releasing.values()]);
  }

  /** Delivers no more records. Resolves when no handler runs and no lane is being released. */
  async stop(): Promise<void> {
    const lanes = [...this.held.values()];
    for (const lane of lanes) lane.revoke();
    await Promise.all([...lanes.map(({ window }) => window.running), ...this.releasing.values()]);
  }

  /** Writes the last commits and releases all lanes, without `onRevoked`. Call it after `stop`. */
  async releaseAll(): Promise<void> {
    const lanes = [...this.held.values()];
    await this.host.commitLast(lanes.map((lane) => lane.commitBy('')));
    for (const { window } of lanes) window.detach();
    this.held.clear();
  }

  private giveUp(lane: KafkaLane, release: () => Promise<void>): void {
    const key = keyOf(lane);
    this.held.delete(key);
    lane.revoke();
    const released = release().then(() => {
      this.releasing.delete(key);
      this.host.released();
    });
    this.releasing.set(key, released);
  }

  /** Resolves when the consumer has released the revoked lane. */
  private revoked({ name, window }: KafkaLane): Promise<void> {
    if (!window.used) return Promise.resolve();
    return revocation(name, this.options.onRevoked, window.running, () => this.failed++);
  }
}
