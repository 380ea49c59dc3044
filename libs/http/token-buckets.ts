import { randomInt } from 'node:crypto';

export interface Consumption {
  readonly allowed: boolean;
  /** Tokens left after this call; a fraction counts towards the next one. */
  readonly tokens: number;
  /** Whole seconds until a call would be allowed; 0 when this one was. */
  readonly waitSeconds: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

const MAX_BUCKETS = 10_000;
const SWEEP_MS = 1_000;

/**
 * Token bucket for each key, with `perSecond` on average and `burst` at once. Callers without a limit do not use it.
 *
 * Memory is bounded, and a flood of keys cannot reset a bucket. Only a bucket that is full again is dropped, because it
 * equals a fresh one. While all are in use, further keys share overflow buckets by a hash of their name. A key that
 * leaves the overflow starts with the tokens left there.
 */
export class TokenBuckets {
  private readonly buckets = new Map<string, Bucket>();
  private readonly overflow = new Map<number, Bucket>();
  private readonly maxShared: number;
  private readonly maxOwn: number;
  /** Secret of the hash, so that a caller cannot choose names that share a bucket with a given one. */
  private readonly seed = randomInt(2 ** 32);
  private sweptAt = -Infinity;

  constructor(
    private readonly perSecond: number,
    private readonly burst: number,
    maxBuckets = MAX_BUCKETS,
  ) {
    this.maxShared = Math.max(1, Math.floor(maxBuckets / 10));
    this.maxOwn = maxBuckets - this.maxShared;
  }

  get size(): number {
    return this.buckets.size + this.overflow.size;
  }

  /** Consumes a token at `now` in epoch milliseconds, if there is one. A clock that is set back removes no tokens. */
  consume(key: string, now: number): Consumption {
    const bucket = this.buckets.get(key) ?? this.newBucket(key, now);
    bucket.tokens = this.refilled(bucket, now);
    bucket.at = now;
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens--;
    const waitSeconds = allowed ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / this.perSecond));
    return { allowed, tokens: bucket.tokens, waitSeconds };
  }

  private newBucket(key: string, now: number): Bucket {
    if (this.buckets.size >= this.maxOwn) this.sweep(now);
    const place = this.overflow.size > 0 || this.buckets.size >= this.maxOwn ? this.placeOf(key) : 0;
    const shared = this.overflow.get(place);
    if (this.buckets.size < this.maxOwn) {
      const bucket = { tokens: shared ? this.refilled(shared, now) : this.burst, at: now };
      this.buckets.set(key, bucket);
      return bucket;
    }
    if (shared) return shared;
    const bucket = { tokens: this.burst, at: now };
    this.overflow.set(place, bucket);
    return bucket;
  }

  /** Drops the buckets that are full again. Visits all of them, so it does so once a second at most. */
  private sweep(now: number): void {
    if (Math.abs(now - this.sweptAt) < SWEEP_MS) return;
    this.sweptAt = now;
    for (const buckets of [this.buckets, this.overflow] as Map<unknown, Bucket>[])
      for (const [key, bucket] of buckets) if (this.refilled(bucket, now) >= this.burst) buckets.delete(key);
  }

  private refilled({ tokens, at }: Readonly<Bucket>, now: number): number {
    return Math.min(this.burst, tokens + (Math.max(0, now - at) / 1000) * this.perSecond);
  }

  private placeOf(key: string): number {
    let hash = this.seed;
    for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
    return ((hash ^ (hash >>> 15)) >>> 0) % this.maxShared;
  }
}
