import { rateLimitHeaders } from '#libs/http/rate-limit-headers.js';
import { TokenBuckets } from '#libs/http/token-buckets.js';

/** Refusal of a request above the rate. */
export interface TooFast {
  readonly text: string;
  /** Retry-After and X-RateLimit-*. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Requests to one endpoint that may arrive at once. */
const BURST = 50;

/** Limits the requests per second of each endpoint. 0 means no limit. */
export class RateLimit {
  private readonly buckets: TokenBuckets | undefined;

  constructor(
    private readonly perSecond: number,
    private readonly burst = BURST,
  ) {
    this.buckets = perSecond > 0 ? new TokenBuckets(perSecond, burst) : undefined;
  }

  /** Counts a request at `now` in epoch milliseconds. Returns undefined when it may pass. */
  consume(key: string, now: number): TooFast | undefined {
    const consumption = this.buckets?.consume(key, now);
    if (consumption === undefined || consumption.allowed) return undefined;
    const { perSecond, burst } = this;
    return {
      text:
        `more than ${perSecond} requests a second to this endpoint (${burst} at once): ` +
        `wait ${consumption.waitSeconds} s. SLUICE_ENDPOINT_RATE sets this limit`,
      headers: rateLimitHeaders({ perSecond, burst }, consumption, now),
    };
  }
}
