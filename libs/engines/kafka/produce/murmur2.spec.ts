import { describe, expect, it } from '@jest/globals';
import { murmur2, partitionOf } from './murmur2.js';

describe('murmur2', () => {
  it.each([
    ['21', -973932308],
    ['foobar', -790332482],
    ['a-little-bit-long-string', -985981536],
    ['a-little-bit-longer-string', -1486304829],
    ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
    ['abc', 479470107],
  ])("gives for %s the hash that the test of Kafka's own client expects", (text, hash) => {
    expect(murmur2(Buffer.from(text))).toBe(hash);
  });

  it('places keys on every partition below their number, and all on a single one', () => {
    const keys = Array.from({ length: 200 }, (_, n) => `dc_ünïcode${n}`);
    expect(new Set(keys.map((key) => partitionOf(key, 7)))).toEqual(new Set([0, 1, 2, 3, 4, 5, 6]));
    expect(new Set(keys.map((key) => partitionOf(key, 1)))).toEqual(new Set([0]));
  });
});
