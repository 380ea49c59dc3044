import { Backoff } from '#libs/async/backoff.js';
import { withDeadline } from '#libs/async/deadline.js';
import { pause } from '#libs/async/pause.js';
import { SerialQueue } from '#libs/async/serial-queue.js';
import { RETRY_PAUSES, type Cluster } from '../wire/cluster.js';
import { type Agreement } from './membership.js';
import { keyOf, type Commit, type Offsets } from './offsets.js';
import { CODE, isCoordinatorMoving, isExpelled } from '../wire/protocol.js';

const DELAY_MS = 75;
/** How long the last commit of a lane is tried. After that the lane may have another owner. */
export const LAST_COMMIT_MS = 3_000;

export interface CommitterHost {
  readonly cluster: Cluster;
  readonly offsets: Offsets;
  readonly group: string;
  agreement(): Agreement | undefined;
  /** The offset to commit for a lane that is still held; undefined when it is not held. */
  commitOf(key: string): Commit | undefined;
  /** The group does not know this member: `Membership.doubt`. */
  refused(): void;
}

/** Commits of a group's lanes, batched. A commit lost in a crash only means that its records are read again. */
export class Committer {
  private dirty = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private readonly writes = new SerialQueue();
  private stopped = false;

  constructor(private readonly host: CommitterHost) {}

  add(key: string): void {
    if (this.stopped) return;
    this.dirty.add(key);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.writes.run(() => this.write());
    }, DELAY_MS);
  }

  /**
   * Writes the claims that were made under this agreement, after the commits gathered before. Resolves with the keys that
   * were written. Retries for `tryMs` while the group rebalances or its coordinator is away. The group refuses them once
   * it has another agreement, in which the lanes may have other owners.
   */
  async claim(claims: readonly Commit[], agreement: Agreement, tryMs: number): Promise<ReadonlySet<string>> {
    await this.writes.idle();
    const done = new Set<string>();
    await retrying(claims, performance.now() + tryMs, async (left) => {
      const failed = await this.send(left, agreement);
      for (const each of left) if (!failed.has(keyOf(each))) done.add(keyOf(each));
      return left.filter((each) => mayPass(failed.get(keyOf(each))));
    });
    return done;
  }

  /**
   * Writes the last commits of lanes that this member releases, after the commits gathered before. Writes none for a
   * lane that it no longer holds, because a successor's progress must not move back. Tries for LAST_COMMIT_MS. Never
   * rejects.
   */
  async release(commits: readonly Commit[]): Promise<void> {
    const { offsets, group, cluster } = this.host;
    const until = performance.now() + LAST_COMMIT_MS;
    const tryOnce = async (left: readonly Commit[]): Promise<readonly Commit[]> => {
      const agreement = this.host.agreement();
      // The group has expelled this member.
      if (!agreement) return [];
      const leftMs = Math.max(0, until - performance.now());
      const holders = await withDeadline(offsets.committed(group, left), leftMs, `the offsets of group ${group}`);
      if (performance.now() >= until) return left;
      const own = left.filter((each) => holders.get(keyOf(each))?.holder === agreement.self);
      // The commit names the agreement from before the check, so a successor in a later agreement is safe from it.
      const failed = await this.send(own, agreement);
      return own.filter((each) => isNotYet(failed.get(keyOf(each))));
    };
    try {
      await withDeadline(this.writes.idle(), LAST_COMMIT_MS, `the commits of group ${group}`);
      const left = await retrying(commits, until, tryOnce);
      if (left.length > 0) throw new Error(`not written for ${left.length} lanes`);
    } catch (error) {
      cluster.warn('lanes were given up without a last commit, so their records may be repeated', error, { group });
    }
  }

  /** Stops writing, except for claims and last commits. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.writes.idle();
  }

  private async write(): Promise<void> {
    const keys = this.dirty;
    this.dirty = new Set();
    const commits: Commit[] = [];
    for (const key of keys) {
      const commit = this.host.commitOf(key);
      if (commit) commits.push(commit);
    }
    const failed = await this.send(commits, this.host.agreement());
    for (const [key, code] of failed) if (mayPass(code)) this.add(key);
  }

  /** Returns the code of each commit that was not written, by key. */
  private async send(commits: readonly Commit[], agreement: Agreement | undefined): Promise<Map<string, number>> {
    const { offsets, group, cluster } = this.host;
    const all = (code: number): Map<string, number> => new Map(commits.map((each) => [keyOf(each), code]));
    if (commits.length === 0) return new Map();
    if (!agreement) return all(CODE.UNKNOWN_MEMBER_ID);
    try {
      const failed = await offsets.commit(group, agreement.member, commits);
      const codes = [...failed.values()];
      if (codes.some((code) => code === CODE.REBALANCE_IN_PROGRESS || isExpelled(code))) this.host.refused();
      return failed;
    } catch (error) {
      cluster.warn('offsets could not be committed yet', error, { group });
      return all(CODE.COORDINATOR_NOT_AVAILABLE);
    }
  }
}

/** Whether a retry may succeed. */
const mayPass = (code: number | undefined): boolean =>
  code !== undefined && (code === CODE.REBALANCE_IN_PROGRESS || isCoordinatorMoving(code));

/** Like `mayPass`, for a retry under the agreement at that time. */
const isNotYet = (code: number | undefined): boolean => mayPass(code) || code === CODE.ILLEGAL_GENERATION;

/**
 * Calls `tryOnce` with the remaining items, at least once, until none remain or the time is over. Resolves with the
 * remaining ones.
 */
const retrying = async (
  commits: readonly Commit[],
  until: number,
  tryOnce: (left: readonly Commit[]) => Promise<readonly Commit[]>,
): Promise<readonly Commit[]> => {
  const backoff = new Backoff(RETRY_PAUSES);
  let left = commits;
  while (left.length > 0) {
    left = await tryOnce(left);
    if (performance.now() >= until) break;
    if (left.length > 0) await pause(backoff.next());
  }
  return left;
};
