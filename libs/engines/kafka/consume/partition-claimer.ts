import { Backoff } from '#libs/async/backoff.js';
import { WakeablePause } from '#libs/async/pause.js';
import { REVOKE_MS } from '#libs/stream-log/stream-log.js';
import { RETRY_PAUSES, type Cluster } from '../wire/cluster.js';
import { LAST_COMMIT_MS, type Committer } from './committer.js';
import { type PartitionId } from '../lane-names.js';
import { type Agreement } from './membership.js';
import { type StartOfLane } from './kafka-lane.js';
import { laneStart } from './lane-start.js';
import { EARLIEST, keyOf, LATEST, type Commit, type Committed, type Offsets } from './offsets.js';

export interface ClaimerHost {
  readonly cluster: Cluster;
  readonly offsets: Offsets;
  readonly committer: Committer;
  readonly group: string;
  readonly sessionTimeoutMs: number;
  agreement(): Agreement | undefined;
  isMine(partition: PartitionId): boolean;
  give(partition: PartitionId, start: StartOfLane): void;
  /** The group reached a new agreement while lanes were being claimed. */
  review(): void;
}

/** A lane to claim, with the commit that claims it. */
type Claim = Commit & StartOfLane;

const LOOK_AGAIN_MS = 100;
const LEADERLESS_LOOK_MS = 1_000;
/** Pause between two checks, as a multiple of the duration of one, because checks of many lanes are slow. */
const LOOK_SHARE = 3;
/** Time for the broker to write a commit that was sent in time. */
const SLACK_MS = 5_000;
const CLAIM_MS = 3_000;

/**
 * Claims the lanes that this member should hold. The holder of a lane is stored with the group's offset of it. A lane
 * is free when it has no holder or the group no longer knows the holder. The claim is written before the first record
 * is delivered. The coordinator refuses the claim of a member that the group has expelled.
 */
export class PartitionClaimer {
  private wanted = new Map<string, PartitionId>();
  /** When a lane was first seen held by another member, by key. */
  private readonly blocked = new Map<string, number>();
  /** Wanted lanes without a leader. The others do not wait for them. */
  private leaderless = new Set<string>();
  private readonly pause = new WakeablePause();
  private readonly ended: Promise<void>;
  private stopped = false;
  private busy = false;
  private waiters: (() => void)[] = [];

  constructor(private readonly host: ClaimerHost) {
    this.ended = this.run();
  }

  /** Sets the lanes to claim. Lanes of an earlier call that are not listed again are no longer wanted. */
  want(partitions: readonly PartitionId[]): void {
    this.wanted = new Map(partitions.map((each) => [keyOf(each), each]));
    for (const key of this.blocked.keys()) if (!this.wanted.has(key)) this.blocked.delete(key);
    for (const key of this.leaderless) if (!this.wanted.has(key)) this.leaderless.delete(key);
    if (this.wanted.size > 0) this.pause.wake();
  }

  /** Resolves when every wanted lane is claimed, held by another member, or without a leader. */
  claimed(): Promise<void> {
    if (!this.busy && this.isDone) return Promise.resolve();
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.pause.wake();
    await this.ended;
  }

  private get isDone(): boolean {
    return this.wanted.size === this.blocked.size + this.leaderless.size;
  }

  private async run(): Promise<void> {
    const backoff = new Backoff(RETRY_PAUSES);
    let lookMs = 0;
    while (!this.stopped) {
      if (this.isDone || this.stopped) for (const resolve of this.waiters.splice(0)) resolve();
      await this.pause.wait(
        this.wanted.size > 0 ? (this.isDone ? Math.max(this.lookAgainMs, lookMs) : backoff.next()) : undefined,
      );
      if (this.stopped) break;
      this.busy = true;
      const began = performance.now();
      try {
        if (this.leaderless.size > 0) await this.host.cluster.refresh();
        if (await this.claim([...this.wanted.values()].filter((each) => this.host.isMine(each)))) backoff.reset();
      } catch (error) {
        if (!this.stopped) this.host.cluster.warn('lanes could not be taken yet', error, { group: this.host.group });
      }
      this.busy = false;
      lookMs = LOOK_SHARE * (performance.now() - began);
    }
    for (const resolve of this.waiters.splice(0)) resolve();
  }

  /** Returns whether the claims were written. */
  private async claim(partitions: readonly PartitionId[]): Promise<boolean> {
    const { offsets, group, committer } = this.host;
    const agreement = this.host.agreement();
    if (partitions.length === 0 || !agreement) return false;
    const committed = await offsets.committed(group, partitions);
    const free = partitions.filter((each) => this.isFree(keyOf(each), committed.get(keyOf(each))?.holder, agreement));
    const claims = await this.claimsOf(free, committed, agreement);
    // The agreement may have changed in the meantime.
    if (this.stopped || this.host.agreement() !== agreement) return true;
    const written = await committer.claim(claims, agreement, CLAIM_MS);
    for (const claim of claims) {
      const key = keyOf(claim);
      if (!written.has(key) || this.host.agreement()?.self !== agreement.self) continue;
      this.wanted.delete(key);
      this.blocked.delete(key);
      this.host.give(claim, claim);
    }
    if (this.host.agreement() !== agreement) this.host.review();
    return written.size === claims.length;
  }

  /** Leaves out the lanes that no broker leads now. */
  private async claimsOf(
    free: readonly PartitionId[],
    committed: ReadonlyMap<string, Committed>,
    { self }: Agreement,
  ): Promise<readonly Claim[]> {
    const { offsets, cluster } = this.host;
    const withEpoch = free.map((each) => ({ ...each, epoch: committed.get(keyOf(each))?.epoch ?? -1 }));
    const [firsts, ends, epochEnds] = await Promise.all([
      offsets.reachable(free, EARLIEST),
      offsets.reachable(free, LATEST),
      offsets.epochEnds(withEpoch.filter(({ epoch }) => epoch >= 0)),
    ]);
    this.leaderless = new Set();
    const claims: Claim[] = [];
    for (const { topic, partition, epoch } of withEpoch) {
      const key = keyOf({ topic, partition });
      const first = firsts.get(key);
      const end = ends.get(key);
      const topicId = cluster.topic(topic)?.id;
      const epochEnd = epochEnds.get(key);
      if (first === undefined || end === undefined || topicId === undefined || (epoch >= 0 && !epochEnd)) {
        this.leaderless.add(key);
        continue;
      }
      const start = laneStart(committed.get(key), { topicId, first, end, epochEnd });
      if (start.lostFrom !== undefined) this.reportLoss(key, committed.get(key), start.lostFrom);
      const isSame = start.next > 0 && start.lostFrom === undefined;
      claims.push({ topic, topicId, partition, end, ...start, epoch: isSame ? epoch : -1, holder: self });
    }
    return claims;
  }

  private reportLoss(lane: string, committed: Committed | undefined, from: number): void {
    const fields = { lane, group: this.host.group, read: committed?.next, from };
    this.host.cluster.warn('records were lost: the log ended before what this group had read', 'read again', fields);
  }

  private get lookAgainMs(): number {
    return this.blocked.size > 0 ? LOOK_AGAIN_MS : LEADERLESS_LOOK_MS;
  }

  private isFree(key: string, holder: string | undefined, { self, members }: Agreement): boolean {
    const isHeld = holder !== undefined && holder !== '' && holder !== self && members.includes(holder);
    if (!isHeld) {
      this.blocked.delete(key);
      return true;
    }
    const since = this.blocked.get(key) ?? performance.now();
    this.blocked.set(key, since);
    return performance.now() - since > holderMs(this.host.sessionTimeoutMs);
  }
}

/**
 * A live holder that has not released a lane after this time has lost it. It may learn a session later than this member
 * that the lane has another owner. Then its consumer finishes and tries the last commit.
 */
export const holderMs = (sessionTimeoutMs: number): number => sessionTimeoutMs + REVOKE_MS + LAST_COMMIT_MS + SLACK_MS;
