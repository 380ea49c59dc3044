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

  it('visit one bucket per call when they are full', () => {
    let visited = 0;
    const keys = Map.prototype.keys;
    const buckets = new TokenBuckets(0.001, 1, 100);
    for (let i = 0; i < 100; i++) buckets.consume(`${i}`, 0);
    Map.prototype.keys = function* <K>(this: Map<K, unknown>) {
      for (const key of keys.call(this) as Iterable<K>) {
        visited++;
        yield key;
      }
    } as typeof keys;
    try {
      for (let i = 0; i < 50; i++) buckets.consume(`new ${i}`, 0);
    } finally {
      Map.prototype.keys = keys;
    }
    expect(visited).toBe(50);
  });
});
