import { randomUUID } from 'node:crypto';
import { type Collection, type Db } from 'mongodb';
import { type Lease, type Leases } from '#libs/kernel/leases.js';
import { DURABLE } from '../durable.js';
import { monotonicTime, type MonotonicTime } from '../monotonic-time.js';
import { isDuplicateKey } from '../server-errors.js';
import { HeldLeases, type LeaseDoc } from './held-leases.js';

export interface MongoLeasesOptions {
  /** Time to live. An owner that was silent for this long has lost the lease. */
  readonly ttlMs: number;
  readonly onWarning: (text: string, fields: object) => void;
  readonly time?: MonotonicTime;
}

/**
 * Leases in MongoDB: a document each, changed only by compare-and-set and without any clock time. A waiting process
 * reads all the leases that it waits for with one request every quarter of the time to live. It acquires a lease that
 * stayed unchanged for the whole time to live. The owner renews every third of it.
 */
export class MongoLeases implements Leases {
  private readonly documents: Collection<LeaseDoc>;
  private readonly time: MonotonicTime;
  private readonly closing = new AbortController();
  private readonly held: HeldLeases;
  /** Number of callers that wait for a lease, by its name. */
  private readonly waiting = new Map<string, number>();
  /** The next read for all waiting callers. */
  private nextLook: Promise<Stored> | undefined;

  constructor(
    db: Db,
    private readonly options: MongoLeasesOptions,
  ) {
    this.documents = db.collection<LeaseDoc>('leases', DURABLE);
    this.time = options.time ?? monotonicTime;
    const { ttlMs, onWarning } = options;
    this.held = new HeldLeases({ documents: this.documents, time: this.time, ttlMs, onWarning });
  }

  async acquire(name: string, signal: AbortSignal, onHeldElsewhere?: () => void): Promise<Lease | undefined> {
    const owner = randomUUID();
    const silence = new Silence(this.options.ttlMs);
    const until = AbortSignal.any([signal, this.closing.signal]);
    let looked = false;
    while (!until.aborted) {
      try {
        const looking = looked ? this.waitForLook(name, until) : this.read([name]);
        looked = true;
        const stored = await looking;
        const asked = this.time.now();
        const token = until.aborted ? undefined : await this.claim(name, owner, silence, stored?.get(name));
        if (token !== undefined) {
          const lease = this.held.hold({ name, token, owner, asked });
          if (!until.aborted && !lease.lost.aborted) return lease;
          await lease.release();
        }
        if (silence.wasBroken) onHeldElsewhere?.();
      } catch (error) {
        this.options.onWarning('could not request a lease', { lease: name, error: String(error) });
      }
    }
    return undefined;
  }

  /** Ends the waiting acquisitions without a lease and releases the held leases. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.held.releaseAll();
  }

  /** Returns the token when this owner now holds the lease. */
  private async claim(
    name: string,
    owner: string,
    silence: Silence,
    stored: LeaseDoc | undefined,
  ): Promise<number | undefined> {
    const timeoutMS = this.options.ttlMs;
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
    // This owner has the lease, because an earlier attempt arrived but its answer was lost.
    const free = former === null || former === owner || silence.passed(`${token}/${beat}`, this.time.now());
    if (!free) return undefined;
    const { matchedCount } = await this.documents.updateOne(
      { _id: name, owner: former, token, beat },
      { $set: { owner, token: token + 1, beat: beat + 1 } },
      { timeoutMS },
    );
    return matchedCount === 1 ? token + 1 : undefined;
  }

  private async read(names: readonly string[]): Promise<Stored> {
    const found = await this.documents.find({ _id: { $in: [...names] } }, { timeoutMS: this.options.ttlMs }).toArray();
    return new Map(found.map((each) => [each._id, each]));
  }

  /**
   * Joins the next read, which is one request for all callers that wait by then. Resolves to undefined when aborted
   * first.
   */
  private async waitForLook(name: string, until: AbortSignal): Promise<Stored | undefined> {
    this.waiting.set(name, (this.waiting.get(name) ?? 0) + 1);
    this.nextLook ??= this.look();
    try {
      return await orAborted(this.nextLook, until);
    } finally {
      const left = (this.waiting.get(name) ?? 1) - 1;
      if (left > 0) this.waiting.set(name, left);
      else this.waiting.delete(name);
    }
  }

  private async look(): Promise<Stored> {
    await this.time.sleep((this.options.ttlMs / 4) * (0.75 + Math.random() / 2), this.closing.signal);
    this.nextLook = undefined;
    return this.closing.signal.aborted || this.waiting.size === 0 ? new Map() : this.read([...this.waiting.keys()]);
  }
}

/** Documents of leases by name. */
type Stored = ReadonlyMap<string, LeaseDoc>;

const orAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const end = (): void => resolve(undefined);
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });

/** Measures how long a value stayed unchanged. */
class Silence {
  /** Whether the value changed after it was first seen. */
  wasBroken = false;
  private seen: string | undefined;
  private since = 0;

  constructor(private readonly ttlMs: number) {}

  passed(beat: string, now: number): boolean {
    if (beat !== this.seen) {
      this.wasBroken = this.seen !== undefined;
      this.seen = beat;
      this.since = now;
    }
    return now - this.since >= this.ttlMs;
  }
}
