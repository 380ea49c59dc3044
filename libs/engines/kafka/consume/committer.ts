import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { SerialQueue } from '#libs/async/serial-queue.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { RETRY_PAUSES, type Cluster } from '../wire/cluster.js';
import { type Agreement } from './membership.js';
import { keyOf, type Commit, type Offsets } from './offsets.js';
import { CODE, isCoordinatorMoving, isExpelled } from '../wire/protocol.js';

const DELAY_MS = 75;

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
   * Writes these commits now, after those gathered before. Resolves with the keys that were written. Retries for
   * `tryMs` while the group rebalances or its coordinator is away. The commits of a stale member are refused.
   */
  async flush(commits: readonly Commit[], tryMs: number): Promise<ReadonlySet<string>> {
    await this.writes.idle();
    const until = performance.now() + tryMs;
    const done = new Set<string>();
    const backoff = new Backoff(RETRY_PAUSES);
    let left = commits;
    while (left.length > 0) {
      const failed = await this.send(left);
      for (const each of left) if (!failed.has(keyOf(each))) done.add(keyOf(each));
      left = left.filter((each) => mayPass(failed.get(keyOf(each))));
      if (performance.now() >= until) break;
      if (left.length > 0) await pause(backoff.next());
    }
    return done;
  }

  /** Stops writing, except for commits given to `flush`. */
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
    const failed = await this.send(commits);
    for (const [key, code] of failed) if (mayPass(code)) this.add(key);
  }

  /** Returns the code of each commit that was not written, by key. */
  private async send(commits: readonly Commit[]): Promise<Map<string, number>> {
    const { offsets, group, cluster } = this.host;
    const agreement = this.host.agreement();
    const all = (code: number): Map<string, number> => new Map(commits.map((each) => [keyOf(each), code]));
    if (commits.length === 0) return new Map();
    if (!agreement) return all(CODE.UNKNOWN_MEMBER_ID);
    try {
      const failed = await offsets.commit(group, agreement.member, commits);
      const codes = [...failed.values()];
      if (codes.some((code) => code === CODE.REBALANCE_IN_PROGRESS || isExpelled(code))) this.host.refused();
      return failed;
    } catch (error) {
      cluster.warn('offsets could not be committed yet', messageOf(error), { group });
      return all(CODE.COORDINATOR_NOT_AVAILABLE);
    }
  }
}

/** Whether a retry may succeed. */
const mayPass = (code: number | undefined): boolean =>
  code !== undefined && (code === CODE.REBALANCE_IN_PROGRESS || isCoordinatorMoving(code));
