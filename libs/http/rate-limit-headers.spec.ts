import { describe, expect, it } from '@jest/globals';
import { rateLimitHeaders } from './rate-limit-headers.js';
import { TokenBuckets } from './token-buckets.js';

const POLICY = { perSecond: 2, burst: 3 };
const remaining = (headers: Readonly<Record<string, string>>): number => Number(headers['X-RateLimit-Remaining']);

describe('X-RateLimit-* headers', () => {
  // docs/reference/rest-api.md#rate-limit
  it('announce as many requests as the bucket then lets through', () => {
    const buckets = new TokenBuckets(POLICY.perSecond, POLICY.burst);
    const now = 1_000_000;
    const ask = (at: number) => {
      const consumption = buckets.consume('u_1', at);
      return { ...consumption, headers: rateLimitHeaders(POLICY, consumption, at) };
    };
    const first = ask(now);
    expect(first.headers).toEqual({
      'X-RateLimit-Limit': '3',
      'X-RateLimit-Remaining': '2',
      'X-RateLimit-Reset': '1001',
    });
    for (let n = remaining(first.headers); n > 0; n--) expect(ask(now).allowed).toBe(true);
    const refused = ask(now);
    expect(refused).toMatchObject({
      allowed: false,
      headers: { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '1002', 'Retry-After': '1' },
    });
    // The whole limit passes at the announced time, and no more.
    const full = Number(refused.headers['X-RateLimit-Reset']) * 1_000;
    const later = Array.from({ length: 4 }, () => ask(full).allowed);
    expect(later).toEqual([true, true, true, false]);
  });

  it('ask for a wait after which one request passes', () => {
    const slow = { perSecond: 0.1, burst: 1 };
    const buckets = new TokenBuckets(slow.perSecond, slow.burst);
    buckets.consume('u_1', 0);
    const waitS = Number(rateLimitHeaders(slow, buckets.consume('u_1', 0), 0)['Retry-After']);
    expect(waitS).toBe(10);
    expect(buckets.consume('u_1', waitS * 1_000).allowed).toBe(true);
  });
});
