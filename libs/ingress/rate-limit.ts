/** Token bucket per key: `perSecond` on average, `burst` at once. 0 per second means no limit. */
export class RateLimit {
  private readonly buckets = new Map<string, { tokens: number; at: number }>();

  constructor(
    private readonly perSecond: number,
    private readonly burst: number,
  ) {}

  /** 0 when the call may pass, else the seconds until one may. */
  take(key: string, now: number): number {
    if (this.perSecond <= 0) return 0;
    let bucket = this.buckets.get(key);
    if (!bucket) {
      if (this.buckets.size >= 10_000) this.forgetFull(now);
      bucket = { tokens: this.burst, at: now };
      this.buckets.set(key, bucket);
    }
    bucket.tokens = Math.min(this.burst, bucket.tokens + ((now - bucket.at) / 1000) * this.perSecond);
    bucket.at = now;
    if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / this.perSecond));
    bucket.tokens--;
    return 0;
  }

  /** A bucket that would be full again says nothing. */
  private forgetFull(now: number): void {
    for (const [key, { tokens, at }] of this.buckets) {
      if (tokens + ((now - at) / 1000) * this.perSecond >= this.burst) this.buckets.delete(key);
    }
  }
}
