import { Backoff } from '#libs/async/backoff.js';
import { WakeablePause } from '#libs/async/pause.js';
import { REVOKE_MS } from '#libs/stream-log/stream-log.js';
import { RETRY_PAUSES, type Cluster } from '../wire/cluster.js';
import { type Committer } from './committer.js';
import { type PartitionId } from '../lane-names.js';
import { type Agreement } from './membership.js';
import { keyOf, LATEST, type Offsets } from './offsets.js';

export interface ClaimerHost {
  readonly cluster: Cluster;
  readonly offsets: Offsets;
  readonly committer: Committer;
  readonly group: string;
  agreement(): Agreement | undefined;
  isMine(partition: PartitionId): boolean;
  give(partition: PartitionId, start: { readonly next: number; readonly end: number }): void;
  /** The group reached a new agreement while lanes were being claimed. */
  review(): void;
}

const LOOK_AGAIN_MS = 100;
/** A living holder that has not released a lane after this time has lost it, whatever it claims. */
const HOLDER_MS = REVOKE_MS + 5_000;
const CLAIM_MS = 3_000;

/**
 * Claims the lanes that this member should hold. The holder of a lane is written with the group's offset of it. A lane
 * is free when it has no holder or the group no longer knows the holder. The claim is written before the first record
 * is handed over. The coordinator refuses the claim of a member that the group has expelled.
 */
export class PartitionClaimer {
  private wanted = new Map<string, PartitionId>();
  /** When a lane was first seen held by another member, by key. */
  private readonly blocked = new Map<string, number>();
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
    if (this.wanted.size > 0) this.pause.wake();
  }

  /** Resolves when every wanted lane is claimed, or held by another member. */
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
    return this.wanted.size === this.blocked.size;
  }

  private async run(): Promise<void> {
    const backoff = new Backoff(RETRY_PAUSES);
    while (!this.stopped) {
      if (this.isDone || this.stopped) for (const resolve of this.waiters.splice(0)) resolve();
      await this.pause.wait(this.wanted.size > 0 ? (this.isDone ? LOOK_AGAIN_MS : backoff.next()) : undefined);
      if (this.stopped) break;
      this.busy = true;
      try {
        if (await this.claim([...this.wanted.values()].filter((each) => this.host.isMine(each)))) backoff.reset();
      } catch (error) {
        if (!this.stopped) this.host.cluster.warn('lanes could not be taken yet', error, { group: this.host.group });
      }
      this.busy = false;
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
    const ends = await offsets.at(free, LATEST);
    const claims = free
      .filter((each) => ends.has(keyOf(each)))
      .map((each) => ({
        topic: each.topic,
        partition: each.partition,
        next: Math.max(0, committed.get(keyOf(each))?.next ?? 0),
        holder: agreement.self,
      }));
    // The agreement may have changed meanwhile.
    if (this.stopped || this.host.agreement() !== agreement) return true;
    const written = await committer.flush(claims, CLAIM_MS);
    for (const claim of claims) {
      const key = keyOf(claim);
      if (!written.has(key) || this.host.agreement()?.self !== agreement.self) continue;
      this.wanted.delete(key);
      this.blocked.delete(key);
      this.host.give(claim, { next: claim.next, end: ends.get(key) ?? claim.next });
    }
    if (this.host.agreement() !== agreement) this.host.review();
    return written.size === claims.length;
  }

  private isFree(key: string, holder: string | undefined, { self, members }: Agreement): boolean {
    const isHeld = holder !== undefined && holder !== '' && holder !== self && members.includes(holder);
    if (!isHeld) return true;
    const since = this.blocked.get(key) ?? performance.now();
    this.blocked.set(key, since);
    return performance.now() - since > HOLDER_MS;
  }
}
