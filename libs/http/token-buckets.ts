export interface Consumption {
  readonly allowed: boolean;
  /** Tokens left after this call; a fraction counts towards the next one. */
  readonly tokens: number;
  /** Whole seconds until a call would be allowed; 0 when this one was. */
  readonly waitSeconds: number;
}

const MAX_BUCKETS = 10_000;

/**
 * Token bucket for each key, with `perSecond` on average and `burst` at once. Callers without a limit do not use it.
 * Keeps the most recently used keys; an evicted key has its whole burst again.
 */
export class TokenBuckets {
  /** Buckets in order of use. */
  private readonly buckets = new Map<string, { tokens: number; at: number }>();

  constructor(
    private readonly perSecond: number,
    private readonly burst: number,
    private readonly maxBuckets = MAX_BUCKETS,
  ) {}

  get size(): number {
    return this.buckets.size;
  }

  /** Consumes a token at `now` in epoch milliseconds, if there is one. A clock that goes back removes no tokens. */
  consume(key: string, now: number): Consumption {
    const bucket = this.buckets.get(key) ?? { tokens: this.burst, at: now };
    this.buckets.delete(key);
    this.buckets.set(key, bucket);
    if (this.buckets.size > this.maxBuckets) this.forgetOldest();
    bucket.tokens = this.refilled(bucket, now);
    bucket.at = now;
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens--;
    const waitSeconds = allowed ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / this.perSecond));
    return { allowed, tokens: bucket.tokens, waitSeconds };
  }

  private refilled({ tokens, at }: { readonly tokens: number; readonly at: number }, now: number): number {
    return Math.min(this.burst, tokens + (Math.max(0, now - at) / 1000) * this.perSecond);
  }

  private forgetOldest(): void {
    for (const key of this.buckets.keys()) {
      this.buckets.delete(key);
      return;
    }
  }
}
