import { type ConsumeOptions, type Consumer } from '#libs/stream-log/stream-log.js';
import { type Cluster } from '../wire/cluster.js';
import { Committer } from './committer.js';
import { FetchLoop } from './fetch-loop.js';
import { KafkaLane } from './kafka-lane.js';
import { PartitionClaimer } from './partition-claimer.js';
import { laneName, parseLane, type PartitionId } from '../lane-names.js';
import { Membership, type Agreement } from './membership.js';
import { EARLIEST, keyOf, type Commit, type Offsets } from './offsets.js';
import { ownerOf } from './ownership.js';
import { revocation } from '#libs/stream-log/revocation.js';

export interface GroupConsumerHost {
  readonly cluster: Cluster;
  readonly offsets: Offsets;
  readonly prefix: string;
  readonly sessionTimeoutMs: number;
  onMemberId(before: string | undefined, after: string | undefined): void;
  onClosed(): void;
}

/** How long the last commit of a lane is retried. After that the lane may have another owner. */
const LAST_COMMIT_MS = 3_000;

/**
 * One member of a group. It holds the lanes of its topics that hash to it while the group agrees. A lane that hashes to
 * another member is released: the consumer gives it up, and the last commit says that it has no holder.
 * PartitionClaimer is the other side.
 */
export class GroupConsumer implements Consumer {
  private readonly held = new Map<string, KafkaLane>();
  /** Lanes being released, until their last commit is written. */
  private readonly releasing = new Map<string, Promise<void>>();
  private readonly loops = new Map<number, FetchLoop>();
  private readonly membership: Membership;
  private readonly committer: Committer;
  private readonly taking: PartitionClaimer;
  private readonly unsubscribe: () => void;
  private agreement: Agreement | undefined;
  private memberId: string | undefined;
  private failed = 0;
  private closed: Promise<void> | undefined;
  private firstAgreement: () => void = () => undefined;

  /** `group` includes the prefix. */
  constructor(
    readonly group: string,
    private readonly options: ConsumeOptions,
    private readonly host: GroupConsumerHost,
  ) {
    const { cluster, offsets, sessionTimeoutMs } = host;
    this.committer = new Committer({
      cluster,
      offsets,
      group,
      agreement: () => this.agreement,
      commitOf: (key) => this.commitOf(key),
      refused: () => this.membership.doubt(),
    });
    this.taking = new PartitionClaimer({
      cluster,
      offsets,
      group,
      committer: this.committer,
      agreement: () => this.agreement,
      isMine: (partition) => this.isMine(partition),
      give: (partition, start) => this.hold(partition, start),
      review: () => this.reconcile(),
    });
    this.unsubscribe = cluster.onTopics(() => this.reconcile());
    this.membership = new Membership({
      cluster,
      group,
      sessionTimeoutMs,
      onAgreement: (agreement) => {
        this.agreement = agreement;
        this.reconcile();
        void this.taking.settled().then(this.firstAgreement);
      },
      onExpelled: () => this.expelled(),
      onMemberId: (id) => {
        host.onMemberId(this.memberId, id);
        this.memberId = id;
      },
    });
  }

  /** Resolves after the first agreement of the group, when the free lanes are taken. */
  started(): Promise<void> {
    return new Promise((resolve) => {
      this.firstAgreement = resolve;
    });
  }

  close(): Promise<void> {
    this.closed ??= this.end();
    return this.closed;
  }

  backlog(): number {
    let sum = 0;
    for (const lane of this.held.values()) sum += lane.backlog;
    return sum;
  }

  backlogOf(name: string): number {
    const { topic, partition } = parseLane(name);
    const lane = this.held.get(keyOf({ topic: this.host.prefix + topic, partition }));
    return lane?.name === name ? lane.backlog : 0;
  }

  unreadBytesOf(name: string): number {
    for (const lane of this.held.values()) if (lane.name === name) return lane.unreadBytes;
    return 0;
  }

  failures(): number {
    return this.failed;
  }

  /** Updates the end after a publish of this process, so that the backlog is right before the records are fetched. */
  appended(partition: PartitionId, end: number): void {
    const lane = this.held.get(keyOf(partition));
    if (lane) lane.end = Math.max(lane.end, end);
  }

  lanes(): Iterable<KafkaLane> {
    return this.held.values();
  }

  /** Compares the held lanes with those that it should hold, after a change of topics or members. */
  reconcile(): void {
    if (this.closed || !this.agreement) return;
    for (const [key, lane] of this.held) {
      if (!this.exists(lane)) this.withdraw(key, lane);
      else if (!this.isMine(lane)) this.release(key, lane);
    }
    const missing: PartitionId[] = [];
    for (const partition of this.selected()) {
      const key = keyOf(partition);
      if (!this.held.has(key) && !this.releasing.has(key) && this.isMine(partition)) missing.push(partition);
    }
    this.taking.want(missing);
    for (const { topic, partition } of this.held.values()) this.loopOn(this.leaderOf({ topic, partition }))?.wake();
  }

  private *selected(): Iterable<PartitionId> {
    for (const { name, leaders } of this.host.cluster.topics()) {
      if (!this.selects(name)) continue;
      for (let partition = 0; partition < leaders.length; partition++) yield { topic: name, partition };
    }
  }

  private selects(fullName: string): boolean {
    const { prefix } = this.host;
    const { topics } = this.options;
    if ('prefix' in topics) return fullName.startsWith(prefix + topics.prefix);
    return fullName.startsWith(prefix) && topics.names.includes(fullName.slice(prefix.length));
  }

  /** Whether there is a single lane, like a process's own answer topic. No other lane waits, so polls may be long. */
  private hasSingleLane(): boolean {
    const { topics } = this.options;
    if (!('names' in topics) || topics.names.length !== 1) return false;
    return [...this.selected()].length === 1;
  }

  private exists({ topic, partition }: PartitionId): boolean {
    return this.leaderOf({ topic, partition }) !== undefined;
  }

  private leaderOf({ topic, partition }: PartitionId): number | undefined {
    return this.host.cluster.topic(topic)?.leaders[partition];
  }

  private isMine(partition: PartitionId): boolean {
    if (this.closed || !this.agreement || !this.exists(partition)) return false;
    return ownerOf(keyOf(partition), this.agreement.members) === this.agreement.self;
  }

  private hold({ topic, partition }: PartitionId, start: { next: number; end: number }): void {
    const key = keyOf({ topic, partition });
    if (this.closed || this.held.has(key)) return;
    const short = topic.slice(this.host.prefix.length);
    const name = laneName(short, partition, this.host.cluster.topic(topic)?.leaders.length ?? 1);
    const lane = new KafkaLane(name, short, topic, partition, start, this.options, {
      wanting: (each) => this.loopOn(this.leaderOf(each))?.wake(),
      committed: () => this.committer.add(key),
      failed: () => this.failed++,
    });
    this.held.set(key, lane);
    this.loopOn(this.leaderOf(lane))?.wake();
  }

  private loopOn(node: number | undefined): FetchLoop | undefined {
    if (node === undefined || node < 0 || this.closed) return undefined;
    let loop = this.loops.get(node);
    if (!loop) {
      loop = new FetchLoop(node, {
        cluster: this.host.cluster,
        purpose: this.fetchPurpose,
        hasSingleLane: () => this.hasSingleLane(),
        lanesOn: (each) => [...this.held.values()].filter((lane) => this.leaderOf(lane) === each),
        outOfRange: (lane) => this.outOfRange(lane),
      });
      this.loops.set(node, loop);
    }
    return loop;
  }

  /** Unique among the consumers of this process. */
  private readonly fetchPurpose = `fetch ${++consumers}`;

  private async outOfRange(lane: KafkaLane): Promise<void> {
    const first = (await this.host.offsets.at([lane], EARLIEST)).get(keyOf(lane));
    if (first === undefined || first === lane.position) return;
    // Past the end only after the log lost data, or when the topic was deleted and recreated.
    if (lane.position > first)
      this.host.cluster.warn('a lane restarts', 'its position was past the end', { lane: lane.name });
    lane.skipTo(first);
    lane.notBefore = 0;
  }

  private commitOf(key: string): Commit | undefined {
    const lane = this.held.get(key);
    if (!lane || !this.agreement) return undefined;
    return { topic: lane.topic, partition: lane.partition, next: lane.next, holder: this.agreement.self };
  }

  /** Withdraws a lane whose topic is gone. Nothing is committed and no process waits for it. */
  private withdraw(key: string, lane: KafkaLane): void {
    this.held.delete(key);
    lane.revoke();
    lane.window.detach();
    this.releasing.set(
      key,
      this.revoke(lane).then(() => this.released(key)),
    );
  }

  private release(key: string, lane: KafkaLane): void {
    this.held.delete(key);
    lane.revoke();
    const last = this.revoke(lane).then(async () => {
      await this.committer.flush([freed(lane)], LAST_COMMIT_MS);
      lane.window.detach();
      this.released(key);
    });
    this.releasing.set(key, last);
  }

  private released(key: string): void {
    this.releasing.delete(key);
    this.reconcile();
  }

  private revoke({ name, window }: KafkaLane): Promise<void> {
    if (!window.used) return Promise.resolve();
    return revocation(name, this.options.onRevoked, window.running, () => this.failed++);
  }

  /** Gives up all lanes, because other members own them. Work done on them from now on is repeated there. */
  private async expelled(): Promise<void> {
    this.agreement = undefined;
    this.host.cluster.warn('the group went on without this member', 'no heartbeat in time', { group: this.group });
    const lanes = [...this.held.values()];
    this.held.clear();
    for (const lane of lanes) {
      lane.revoke();
      lane.window.detach();
    }
    await Promise.all([...lanes.map((lane) => this.revoke(lane)), ...this.releasing.values()]);
  }

  private async end(): Promise<void> {
    this.unsubscribe();
    const lanes = [...this.held.values()];
    for (const lane of lanes) lane.revoke();
    this.host.cluster.drop(this.fetchPurpose);
    const loops = [...this.loops.values()].map((loop) => loop.stop());
    await Promise.all([...lanes.map(({ window }) => window.running), ...this.releasing.values()]);
    await this.taking.stop();
    await this.committer.stop();
    await this.committer.flush(lanes.map(freed), LAST_COMMIT_MS);
    for (const { window } of lanes) window.detach();
    await this.membership.close();
    await Promise.all(loops);
    this.held.clear();
    this.host.onClosed();
    this.firstAgreement();
  }
}

let consumers = 0;

const freed = ({ topic, partition, next }: KafkaLane): Commit => ({ topic, partition, next, holder: '' });
