import { type Collection } from 'mongodb';
import { type Lease } from '#libs/kernel/leases.js';
import { type MonotonicTime } from '../monotonic-time.js';

export interface LeaseDoc {
  readonly _id: string;
  /** The owner, with a new id for each acquisition; null when free. */
  readonly owner: string | null;
  readonly token: number;
  /** Changes while the owner is alive. */
  readonly beat: number;
}

export interface ClaimedLease {
  readonly name: string;
  readonly token: number;
  readonly owner: string;
  /** Time at which the claiming request was sent. A waiting process cannot have seen the claim earlier. */
  readonly asked: number;
}

export interface HeldLeasesHost {
  readonly documents: Collection<LeaseDoc>;
  readonly time: MonotonicTime;
  readonly ttlMs: number;
  readonly onWarning: (text: string, fields: object) => void;
}

/**
 * The leases that this process holds. One request renews all of them, a third of the time to live after the oldest
 * renewal. A lease counts as lost two thirds of the time to live after the start of its last successful renewal, so its
 * work stops before another owner may begin. Leases with more time left continue.
 */
export class HeldLeases {
  private readonly held = new Set<HeldLease>();
  /** Ends the beats when no lease is held. */
  private beating: AbortController | undefined;
  /** Ends the pause before the next beat, because a new lease may need an earlier one. */
  private pausing = new AbortController();

  constructor(private readonly host: HeldLeasesHost) {}

  /** Holds a claimed lease. It is lost at once when the claiming request took too long. */
  hold(claimed: ClaimedLease): Lease {
    const lease = new HeldLease(claimed, this.host, () => this.remove(lease));
    this.held.add(lease);
    void this.watch(lease);
    if (!this.held.has(lease)) return lease;
    this.pausing.abort();
    if (!this.beating) {
      this.beating = new AbortController();
      void this.beat(this.beating.signal);
    }
    return lease;
  }

  async releaseAll(): Promise<void> {
    await Promise.all([...this.held].map((lease) => lease.release()));
  }

  private remove(lease: HeldLease): void {
    this.held.delete(lease);
    lease.removed.abort();
    if (this.held.size > 0) return;
    this.beating?.abort();
    this.beating = undefined;
    this.pausing.abort();
  }

  /** Loses the lease at the end of its time, even while a beat is in flight. Never rejects. */
  private async watch(lease: HeldLease): Promise<void> {
    const { time } = this.host;
    while (!lease.removed.signal.aborted) {
      const left = lease.leftAt(time.now());
      if (left <= 0) this.lose(lease);
      else await time.sleep(left, lease.removed.signal);
    }
  }

  /** Never rejects. */
  private async beat(ended: AbortSignal): Promise<void> {
    const { time, ttlMs, onWarning } = this.host;
    let notBefore = time.now();
    for (;;) {
      await this.untilNextBeat(notBefore, ended);
      if (ended.aborted) return;
      const now = time.now();
      const leases = [...this.held];
      const longest = Math.max(...leases.map((lease) => lease.leftAt(now)));
      try {
        await this.within(longest, this.renew(leases, now, longest));
        notBefore = now;
      } catch (error) {
        onWarning('could not renew leases', { leases: leases.map(({ name }) => name), error: String(error) });
        notBefore = time.now() + ttlMs / 12;
      }
    }
  }

  private async untilNextBeat(notBefore: number, ended: AbortSignal): Promise<void> {
    const { time, ttlMs } = this.host;
    while (!ended.aborted) {
      const due = Math.min(...[...this.held].map(({ alive }) => alive)) + ttlMs / 3;
      const ms = Math.max(due, notBefore) - time.now();
      if (ms <= 0) return;
      this.pausing = new AbortController();
      await time.sleep(ms, this.pausing.signal);
    }
  }

  /** Rejects when there is no answer in time. The driver may wait longer than its time-out for a new primary. */
  private async within(ms: number, renewal: Promise<void>): Promise<void> {
    const answered = new AbortController();
    const late = this.host.time.sleep(ms, answered.signal).then(() => {
      throw new Error(`no answer within ${Math.ceil(ms)} ms`);
    });
    try {
      await Promise.race([renewal, late]);
    } finally {
      answered.abort();
      late.catch(() => undefined);
    }
  }

  private async renew(leases: readonly HeldLease[], now: number, timeoutMs: number): Promise<void> {
    const { documents } = this.host;
    const timeoutMS = Math.ceil(timeoutMs);
    const names = leases.map(({ name }) => name);
    // An owner's id belongs to one acquisition of one lease, so the two lists select pairs.
    const owners = leases.map(({ owner }) => owner);
    const { matchedCount } = await documents.updateMany(
      { _id: { $in: names }, owner: { $in: owners } },
      { $inc: { beat: 1 } },
      { timeoutMS },
    );
    if (matchedCount < leases.length) {
      const stored = await documents.find({ _id: { $in: names } }, { timeoutMS }).toArray();
      const ownerOf = new Map(stored.map(({ _id, owner }) => [_id, owner]));
      // A lease that is being released is no longer held, and its document has no owner.
      for (const lease of leases) {
        if (this.held.has(lease) && ownerOf.get(lease.name) !== lease.owner) this.lose(lease);
      }
    }
    const answeredAt = this.host.time.now();
    for (const lease of leases) {
      lease.alive = now;
      // The process may have been stopped in between, and then its timers run after the answer.
      if (this.held.has(lease) && lease.leftAt(answeredAt) <= 0) this.lose(lease);
    }
  }

  private lose(lease: HeldLease): void {
    this.remove(lease);
    lease.lose();
  }
}

class HeldLease implements Lease {
  readonly name: string;
  readonly token: number;
  readonly owner: string;
  readonly lost: AbortSignal;
  /** Start of the last successful beat. */
  alive: number;
  /** Aborts when this process no longer holds the lease. */
  readonly removed = new AbortController();
  private readonly losing = new AbortController();
  private released: Promise<void> | undefined;

  constructor(
    { name, token, owner, asked }: ClaimedLease,
    private readonly host: HeldLeasesHost,
    private readonly onReleased: () => void,
  ) {
    this.name = name;
    this.token = token;
    this.owner = owner;
    this.alive = asked;
    this.lost = this.losing.signal;
  }

  /** Time for which this process still owns the lease without another beat. */
  leftAt(now: number): number {
    return this.alive + (this.host.ttlMs * 2) / 3 - now;
  }

  lose(): void {
    this.losing.abort();
  }

  release(): Promise<void> {
    this.released ??= this.free();
    return this.released;
  }

  private async free(): Promise<void> {
    this.onReleased();
    const { name, token, owner } = this;
    try {
      await this.host.documents.updateOne(
        { _id: name, owner, token },
        { $set: { owner: null }, $inc: { beat: 1 } },
        { timeoutMS: this.host.ttlMs },
      );
    } catch (error) {
      this.host.onWarning('could not release a lease, so it is free after its time to live', {
        lease: name,
        error: String(error),
      });
    }
  }
}
