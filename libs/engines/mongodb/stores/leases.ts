import { randomUUID } from 'node:crypto';
import { type Collection, type Db } from 'mongodb';
import { type Lease, type Leases } from '#libs/kernel/leases.js';
import { DURABLE } from '../durable.js';
import { monotonicTime, type MonotonicTime } from '../monotonic-time.js';
import { isDuplicateKey } from '../server-errors.js';

interface LeaseDoc {
  readonly _id: string;
  /** The owner, with a new id for each acquisition; null when free. */
  readonly owner: string | null;
  readonly token: number;
  /** Changes while the owner is alive. */
  readonly beat: number;
}

export interface MongoLeasesOptions {
  /** Time to live. An owner that was silent for this long has lost the lease. */
  readonly ttlMs: number;
  readonly onWarning: (text: string, fields: object) => void;
  readonly time?: MonotonicTime;
}

/**
 * Leases in MongoDB: a document each, changed only by compare-and-set, without any clock time in it. A waiting process
 * looks every quarter of the time to live. It takes over a lease that it saw unchanged for the whole of it. The owner
 * beats every third. It counts the lease as lost two thirds after the start of the last beat that arrived, so it stops
 * before another owner may begin.
 */
export class MongoLeases implements Leases {
  private readonly documents: Collection<LeaseDoc>;
  private readonly time: MonotonicTime;
  private readonly closing = new AbortController();
  private readonly held = new Set<HeldLease>();

  constructor(
    db: Db,
    private readonly options: MongoLeasesOptions,
  ) {
    this.documents = db.collection<LeaseDoc>('leases', DURABLE);
    this.time = options.time ?? monotonicTime;
  }

  async acquire(name: string, signal: AbortSignal): Promise<Lease | undefined> {
    const { ttlMs, onWarning } = this.options;
    const owner = randomUUID();
    const silence = new Silence(ttlMs);
    const until = AbortSignal.any([signal, this.closing.signal]);
    while (!until.aborted) {
      const asked = this.time.now();
      try {
        const token = await this.claim(name, owner, silence);
        if (token !== undefined) {
          const lease = new HeldLease({ name, token, owner, asked }, this.documents, this.time, this.options);
          this.held.add(lease);
          void lease.done.then(() => this.held.delete(lease));
          if (!until.aborted) return lease;
          await lease.release();
          return undefined;
        }
      } catch (error) {
        onWarning('could not request a lease', { lease: name, error: String(error) });
      }
      await this.time.sleep((ttlMs / 4) * (0.75 + Math.random() / 2), until);
    }
    return undefined;
  }

  /** Ends the waiting acquisitions without a lease and releases the held leases. */
  async close(): Promise<void> {
    this.closing.abort();
    await Promise.all([...this.held].map((lease) => lease.release()));
  }

  /** Returns the token when this owner now holds the lease. */
  private async claim(name: string, owner: string, silence: Silence): Promise<number | undefined> {
    const timeoutMS = this.options.ttlMs;
    const stored = await this.documents.findOne({ _id: name }, { timeoutMS });
    if (!stored) {
      try {
        await this.documents.insertOne({ _id: name, owner, token: 1, beat: 1 }, { timeoutMS });
        return 1;
      } catch (error) {
        if (isDuplicateKey(error)) return undefined;
        throw error;
      }
    }
    const { owner: former, token, beat } = stored;
    // Its own: an earlier attempt arrived but its answer was lost.
    const free = former === null || former === owner || silence.passed(`${token}/${beat}`, this.time.now());
    if (!free) return undefined;
    const { matchedCount } = await this.documents.updateOne(
      { _id: name, owner: former, token, beat },
      { $set: { owner, token: token + 1, beat: beat + 1 } },
      { timeoutMS },
    );
    return matchedCount === 1 ? token + 1 : undefined;
  }
}

/** Measures how long a value stayed unchanged. */
class Silence {
  private seen: string | undefined;
  private since = 0;

  constructor(private readonly ttlMs: number) {}

  passed(beat: string, now: number): boolean {
    if (beat !== this.seen) {
      this.seen = beat;
      this.since = now;
    }
    return now - this.since >= this.ttlMs;
  }
}

class HeldLease implements Lease {
  readonly name: string;
  readonly token: number;
  readonly lost: AbortSignal;
  /** Resolves when the beats have ended; never rejects. */
  readonly done: Promise<void>;
  private readonly losing = new AbortController();
  private readonly releasing = new AbortController();
  private released: Promise<void> | undefined;

  constructor(
    private readonly claimed: {
      readonly name: string;
      readonly token: number;
      readonly owner: string;
      readonly asked: number;
    },
    private readonly documents: Collection<LeaseDoc>,
    private readonly time: MonotonicTime,
    private readonly options: MongoLeasesOptions,
  ) {
    this.name = claimed.name;
    this.token = claimed.token;
    this.lost = this.losing.signal;
    this.done = this.beat();
  }

  release(): Promise<void> {
    this.released ??= this.free();
    return this.released;
  }

  private async beat(): Promise<void> {
    const { ttlMs, onWarning } = this.options;
    const { signal } = this.releasing;
    // Since before the request was sent, because a waiting process cannot have seen the beat earlier.
    let alive = this.claimed.asked;
    let pause = ttlMs / 3;
    for (;;) {
      await this.time.sleep(pause, signal);
      if (signal.aborted) return;
      const now = this.time.now();
      const left = alive + (ttlMs * 2) / 3 - now;
      if (left <= 0) break;
      try {
        if (!(await this.renew(left))) break;
        alive = now;
        pause = ttlMs / 3;
      } catch (error) {
        onWarning('could not renew a lease', { lease: this.name, error: String(error) });
        pause = Math.min(ttlMs / 12, Math.max(0, alive + (ttlMs * 2) / 3 - this.time.now()));
      }
    }
    this.losing.abort();
  }

  private async renew(timeoutMS: number): Promise<boolean> {
    const { name, token, owner } = this.claimed;
    const { matchedCount } = await this.documents.updateOne(
      { _id: name, owner, token },
      { $inc: { beat: 1 } },
      { timeoutMS: Math.ceil(timeoutMS) },
    );
    return matchedCount === 1;
  }

  private async free(): Promise<void> {
    this.releasing.abort();
    await this.done;
    const { name, token, owner } = this.claimed;
    try {
      await this.documents.updateOne(
        { _id: name, owner, token },
        { $set: { owner: null }, $inc: { beat: 1 } },
        { timeoutMS: this.options.ttlMs },
      );
    } catch (error) {
      this.options.onWarning('could not release a lease, so it is free after its time to live', {
        lease: name,
        error: String(error),
      });
    }
  }
}
