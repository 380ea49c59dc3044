export interface Taken {
  readonly allowed: boolean;
  /** Left after this call; a fraction counts towards the next one. */
  readonly tokens: number;
  /** Whole seconds until a call would be allowed; 0 when this one was. */
  readonly waitSeconds: number;
}

const MAX_BUCKETS = 10_000;

/**
 * A token bucket for each key: `perSecond` on average, `burst` at once. Callers without a limit do not ask. Holds the
 * keys asked for last; one that was forgotten has its whole burst again.
 */
export class TokenBuckets {
  /** In order of use. */
  private readonly buckets = new Map<string, { tokens: number; at: number }>();

  constructor(
    private readonly perSecond: number,
    private readonly burst: number,
    private readonly maxBuckets = MAX_BUCKETS,
  ) {}

  get size(): number {
    return this.buckets.size;
  }

  /** `now`: epoch milliseconds. A clock that goes back takes no tokens away. */
  take(key: string, now: number): Taken {
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
