import { type ConsumeOptions, type Consumer } from '#libs/stream-log/stream-log.js';
import { type FetchBudget } from '../../fetch-budget.js';
import { type PartitionId } from '../lane-names.js';
import { type Cluster } from '../wire/cluster.js';
import { Assignment } from './assignment.js';
import { Committer } from './committer.js';
import { Fetcher } from './fetcher.js';
import { HeldLanes } from './held-lanes.js';
import { type KafkaLane, type StartOfLane } from './kafka-lane.js';
import { Membership } from './membership.js';
import { LastCommits } from './last-commits.js';
import { keyOf, type Commit, type Offsets } from './offsets.js';
import { PartitionClaimer } from './partition-claimer.js';

export interface GroupConsumerHost {
  readonly cluster: Cluster;
  readonly offsets: Offsets;
  /** Shared by all consumers of the process. */
  readonly budget: FetchBudget;
  readonly prefix: string;
  readonly sessionTimeoutMs: number;
  onMemberId(before: string | undefined, after: string | undefined): void;
  onClosed(): void;
  /** Called with the number of records that the log dropped before the group read them. */
  onSkipped(records: number): void;
}

/**
 * One member of a group. It holds the lanes of its topics that hash to it while the group agrees:
 * - Membership agrees on the members with the group, and Assignment derives the lanes of this member from it;
 * - PartitionClaimer claims lanes, HeldLanes holds and releases them;
 * - Fetcher reads their records, Committer writes their offsets.
 */
export class GroupConsumer implements Consumer {
  private readonly assignment: Assignment;
  private readonly held: HeldLanes;
  private readonly fetcher: Fetcher;
  private readonly committer: Committer;
  private readonly lastCommits = new LastCommits((commits) => this.committer.release(commits));
  private readonly claimer: PartitionClaimer;
  private readonly membership: Membership;
  private readonly unsubscribe: () => void;
  private memberId: string | undefined;
  private closed: Promise<void> | undefined;
  private reconciling: NodeJS.Immediate | undefined;
  private firstAgreement: () => void = () => undefined;

  /** `group` includes the prefix. */
  constructor(
    readonly group: string,
    options: ConsumeOptions,
    private readonly host: GroupConsumerHost,
  ) {
    const { cluster, offsets, budget, prefix } = host;
    const assignment = (this.assignment = new Assignment(cluster, prefix, options.topics));
    const held = (this.held = new HeldLanes(prefix, options, budget, {
      wanting: (lane) => this.fetcher.wake(lane),
      committed: (key) => this.committer.add(key),
      commitLast: (commits) => this.lastCommits.add(commits),
      released: () => this.reconcileSoon(),
      inDoubt: () => this.membership.inDoubt(),
    }));
    this.fetcher = new Fetcher({
      cluster,
      budget,
      offsets,
      leaderOf: (partition) => assignment.leaderOf(partition),
      retake: (lane) => held.withdraw(lane),
      skipped: (lane, from, to) => {
        cluster.warn('records were skipped', 'they were dropped before this group read them', {
          group,
          lane,
          from,
          to,
        });
        host.onSkipped(to - from);
      },
      lanes: () => held.values(),
    });
    this.committer = new Committer({
      cluster,
      offsets,
      group,
      agreement: () => assignment.agreement,
      commitOf: (key) => this.commitOf(key),
      refused: () => this.membership.doubt(),
    });
    this.claimer = new PartitionClaimer({
      cluster,
      offsets,
      group,
      sessionTimeoutMs: host.sessionTimeoutMs,
      committer: this.committer,
      agreement: () => assignment.agreement,
      isMine: (partition) => !this.closed && assignment.isMine(partition),
      give: (partition, start) => this.hold(partition, start),
      review: () => this.reconcile(),
    });
    this.unsubscribe = cluster.onTopics(() => this.reconcileSoon());
    this.membership = this.join();
  }

  /** Resolves after the first agreement of the group, when the free lanes are claimed. */
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
    return this.held.backlog();
  }

  backlogOf(name: string): number {
    return this.held.named(name)?.backlog ?? 0;
  }

  unreadBytesOf(name: string): number {
    return this.held.named(name)?.unreadBytes ?? 0;
  }

  failures(): number {
    return this.held.failures;
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
    const { assignment, held } = this;
    if (this.closed || !assignment.agreement) return;
    for (const lane of held.values()) {
      if (!assignment.isThere(lane)) held.withdraw(lane);
      else if (!assignment.isMine(lane)) held.release(lane);
    }
    const missing: PartitionId[] = [];
    for (const each of assignment.selected()) if (!held.has(each) && assignment.isMine(each)) missing.push(each);
    this.claimer.want(missing);
    for (const lane of held.values()) this.fetcher.wake(lane);
  }

  /** Reconciles once for all lanes released and all topics reported in this turn. */
  private reconcileSoon(): void {
    this.reconciling ??= setImmediate(() => {
      this.reconciling = undefined;
      this.reconcile();
    });
  }

  private join(): Membership {
    const { cluster, sessionTimeoutMs } = this.host;
    return new Membership({
      cluster,
      group: this.group,
      sessionTimeoutMs,
      onAgreement: (agreement) => {
        this.assignment.agreement = agreement;
        this.reconcile();
        void this.claimer.claimed().then(this.firstAgreement);
      },
      onExpelled: () => this.expelled(),
      onMemberId: (id) => {
        this.host.onMemberId(this.memberId, id);
        this.memberId = id;
      },
    });
  }

  private hold(partition: PartitionId, start: StartOfLane): void {
    const topic = this.host.cluster.topic(partition.topic);
    if (!this.closed && topic) this.held.hold(topic, partition.partition, start);
  }

  private commitOf(key: string): Commit | undefined {
    const { agreement } = this.assignment;
    return agreement && this.held.get(key)?.commitBy(agreement.self);
  }

  /** Releases all lanes, because other members own them. Those members repeat work that is done from now on. */
  private async expelled(): Promise<void> {
    this.assignment.agreement = undefined;
    this.host.cluster.warn('the group went on without this member', 'no heartbeat in time', { group: this.group });
    await this.held.loseAll();
  }

  private async end(): Promise<void> {
    this.unsubscribe();
    const handlersEnded = this.held.stop();
    const fetchingEnded = this.fetcher.stop();
    await handlersEnded;
    await this.claimer.stop();
    await this.committer.stop();
    await this.held.releaseAll();
    await this.membership.close();
    await fetchingEnded;
    this.host.onClosed();
    this.firstAgreement();
  }
}
