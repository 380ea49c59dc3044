import { type Consumption } from './token-buckets.js';

/** State of a token bucket for callers. */
export interface RateLimitPolicy {
  readonly perSecond: number;
  readonly burst: number;
}

/**
 * Headers about a bucket: `-Limit` requests at once when it is full, `-Remaining` now, and the epoch second at which it
 * is full again (docs/reference/rest-api.md#rate-limit). A refusal also carries Retry-After.
 */
export const rateLimitHeaders = (
  { perSecond, burst }: RateLimitPolicy,
  { tokens, allowed, waitSeconds }: Consumption,
  now: number,
): Readonly<Record<string, string>> => ({
  'X-RateLimit-Limit': String(burst),
  'X-RateLimit-Remaining': String(Math.floor(tokens)),
  'X-RateLimit-Reset': String(Math.ceil(now / 1000 + (burst - tokens) / perSecond)),
  ...(allowed ? {} : { 'Retry-After': String(waitSeconds) }),
});
