export interface Taken {
  readonly allowed: boolean;
  /** Left after this call; a fraction counts towards the next one. */
  readonly tokens: number;
  /** Whole seconds until a call would be allowed; 0 when this one was. */
  readonly waitSeconds: number;
}

const MAX_BUCKETS = 10_000;

/** A token bucket for each key: `perSecond` on average, `burst` at once. Whoever means "no limit" does not ask. */
export class TokenBuckets {
  private readonly buckets = new Map<string, { tokens: number; at: number }>();

  constructor(
    private readonly perSecond: number,
    private readonly burst: number,
  ) {}

  /** `now`: epoch milliseconds. A clock that goes back takes no tokens away. */
  take(key: string, now: number): Taken {
    let bucket = this.buckets.get(key);
    if (!bucket) {
      if (this.buckets.size >= MAX_BUCKETS) this.forgetFull(now);
      bucket = { tokens: this.burst, at: now };
      this.buckets.set(key, bucket);
    }
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

  /** A bucket that would be full again says nothing. */
  private forgetFull(now: number): void {
    for (const [key, bucket] of this.buckets) {
      if (this.refilled(bucket, now) >= this.burst) this.buckets.delete(key);
    }
  }
}
