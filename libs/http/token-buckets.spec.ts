import { describe, expect, it } from '@jest/globals';
import { TokenBuckets } from './token-buckets.js';

describe('token buckets', () => {
  it('allow the burst, then the average, for each key', () => {
    const buckets = new TokenBuckets(0.5, 2);
    const consume = (key: string, now: number) => buckets.consume(key, now);
    expect([consume('a', 0), consume('a', 0), consume('a', 0)].map(({ allowed }) => allowed)).toEqual([
      true,
      true,
      false,
    ]);
    expect(consume('a', 0).waitSeconds).toBe(2);
    expect(consume('b', 0).allowed).toBe(true);
    expect(consume('a', 2_000).allowed).toBe(true);
    expect(consume('a', 1_000).allowed).toBe(false);
  });

  it('hold no more keys than their limit, and keep those in use', () => {
    const buckets = new TokenBuckets(0.001, 1, 100);
    expect(buckets.consume('attacker', 0).allowed).toBe(true);
    for (let i = 0; i < 10_000; i++) {
      buckets.consume(`other ${i}`, 0);
      expect(buckets.consume('attacker', 0).allowed).toBe(false);
    }
    expect(buckets.size).toBe(100);
  });

  it('give no fresh bucket to a key that a flood of other keys was to push out', () => {
    const buckets = new TokenBuckets(0.001, 3, 100);
    for (let i = 0; i < 3; i++) expect(buckets.consume('attacker', 0).allowed).toBe(true);
    for (let i = 0; i < 10_000; i++) buckets.consume(`other ${i}`, i);
    expect(buckets.consume('attacker', 10_000).allowed).toBe(false);
    expect(buckets.size).toBeLessThanOrEqual(100);
  });

  it('limit a key that came when all buckets were in use, also after it gets its own', () => {
    const buckets = new TokenBuckets(1, 10, 100);
    for (let i = 0; i < 90; i++) buckets.consume(`other ${i}`, 0);
    const allowed = Array.from({ length: 50 }, () => buckets.consume('late', 0).allowed).filter(Boolean);
    expect(allowed).toHaveLength(10);
    // The other buckets are full again after a second and dropped; the late key gets one token, not ten.
    expect([buckets.consume('late', 1_000).allowed, buckets.consume('late', 1_000).allowed]).toEqual([true, false]);
    expect(buckets.size).toBeLessThanOrEqual(12);
    expect(buckets.consume('new', 60_000)).toMatchObject({ allowed: true, tokens: 9 });
  });

  it('bound what a flood of keys gets in all', () => {
    const buckets = new TokenBuckets(0.001, 1, 100);
    let allowed = 0;
    for (let i = 0; i < 10_000; i++) if (buckets.consume(`key ${i}`, 0).allowed) allowed++;
    expect(allowed).toBeLessThanOrEqual(100);
  });

  it('visit all buckets once a second at most', () => {
    let visits = 0;
    const iterate = Map.prototype[Symbol.iterator];
    const buckets = new TokenBuckets(0.001, 1, 100);
    for (let i = 0; i < 90; i++) buckets.consume(`${i}`, 0);
    Map.prototype[Symbol.iterator] = function <K, V>(this: Map<K, V>) {
      visits++;
      return iterate.call(this) as MapIterator<[K, V]>;
    };
    try {
      for (let i = 0; i < 5_000; i++) buckets.consume(`new ${i}`, i);
    } finally {
      Map.prototype[Symbol.iterator] = iterate;
    }
    // Two maps in each of five seconds.
    expect(visits).toBe(10);
  });
});
