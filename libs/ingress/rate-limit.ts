import { TokenBuckets } from '../http/token-buckets.js';

/** Limits the requests per second of each endpoint; 0 means no limit. */
export class RateLimit {
  private readonly buckets: TokenBuckets | undefined;

  constructor(perSecond: number, burst: number) {
    this.buckets = perSecond > 0 ? new TokenBuckets(perSecond, burst) : undefined;
  }

  /** Returns 0 when the request may pass, else the seconds until one may. */
  consume(key: string, now: number): number {
    return this.buckets?.consume(key, now).waitSeconds ?? 0;
  }
}
