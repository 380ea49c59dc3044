import { describe, expect, it } from '@jest/globals';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { InFlightMap } from './in-flight-map.js';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as (options?: { type: 'minor' }) => void;

interface Store {
  set(key: number, value: object): unknown;
  delete(key: number): unknown;
}

const oldBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0;

/** Bytes that move to the old generation while 30 MB of values are added and removed, 200 at a time. */
const movedBy = (store: Store): number => {
  gc();
  const before = oldBytes();
  for (let at = 0; at < 30_000; at++) {
    store.set(at, new Array(128).fill(at));
    store.delete(at - 200);
    if (at % 500 === 0) gc({ type: 'minor' });
  }
  return oldBytes() - before;
};

describe('InFlightMap', () => {
  it('holds entries as a Map does, in the order in which they came', () => {
    const map = new InFlightMap<string, number>();
    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 3);
    expect([map.size, map.get('a'), map.has('b'), map.get('c'), [...map.values()]]).toEqual([
      2,
      3,
      true,
      undefined,
      [3, 2],
    ]);
    expect([map.delete('a'), map.delete('a'), map.size]).toEqual([3, undefined, 1]);
    map.clear();
    expect([map.size, map.get('b'), [...map.values()]]).toEqual([0, undefined, []]);
  });

  it('survives the removal of entries while they are read', () => {
    const map = new InFlightMap<number, number>();
    for (const n of [1, 2, 3]) map.set(n, n);
    const seen: number[] = [];
    for (const n of map.values()) {
      seen.push(n);
      map.delete(n);
      map.delete(3);
    }
    expect(seen).toEqual([1, 2]);
  });

  it('lets young collections free what has left it, where a Map keeps much of it (control)', () => {
    const plain = movedBy(new Map<number, object>());
    const inFlight = movedBy(new InFlightMap<number, object>());
    expect(plain).toBeGreaterThan(4 << 20);
    expect(inFlight).toBeLessThan(plain / 4);
  });
});
