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
  /** When the request was sent that claimed it. A waiting process cannot have seen the claim earlier. */
  readonly asked: number;
}

export interface HeldLeasesHost {
  readonly documents: Collection<LeaseDoc>;
  readonly time: MonotonicTime;
  readonly ttlMs: number;
  readonly onWarning: (text: string, fields: object) => void;
}

/**
 * The leases that this process holds. One request beats for all of them, every third of the time to live. A lease counts
 * as lost two thirds after the start of the last beat that arrived, so its work stops before another owner may begin.
 */
export class HeldLeases {
  private readonly held = new Set<HeldLease>();
  /** Ends the beats when no lease is held. */
  private beating: AbortController | undefined;

  constructor(private readonly host: HeldLeasesHost) {}

  hold(claimed: ClaimedLease): Lease {
    const lease = new HeldLease(claimed, this.host, () => this.remove(lease));
    this.held.add(lease);
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
    if (this.held.size > 0) return;
    this.beating?.abort();
    this.beating = undefined;
  }

  /** Never rejects. */
  private async beat(ended: AbortSignal): Promise<void> {
    const { time, ttlMs, onWarning } = this.host;
    let pause = ttlMs / 3;
    for (;;) {
      await time.sleep(pause, ended);
      if (ended.aborted) return;
      const now = time.now();
      for (const lease of this.held) if (lease.leftAt(now) <= 0) this.lose(lease);
      const leases = [...this.held];
      if (leases.length === 0) return;
      const left = (at: number): number => Math.min(...leases.map((lease) => lease.leftAt(at)));
      try {
        await this.within(left(now), this.renew(leases, now, left(now)));
        pause = ttlMs / 3;
      } catch (error) {
        onWarning('could not renew leases', { leases: leases.map(({ name }) => name), error: String(error) });
        pause = Math.min(ttlMs / 12, Math.max(0, left(time.now())));
      }
    }
  }

  /** Rejects when there is no answer in time. The driver may wait longer than it is told, for a new primary. */
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
      // One that is being released is no longer held, and its document has no owner.
      for (const lease of leases) {
        if (this.held.has(lease) && ownerOf.get(lease.name) !== lease.owner) this.lose(lease);
      }
    }
    for (const lease of leases) lease.alive = now;
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
  /** Start of the last beat that arrived. */
  alive: number;
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

  /** How long it is still this process's without another beat. */
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
