import { describe, expect, it } from '@jest/globals';
import { BoundedMap, bytesOfText } from './bounded-map.js';

describe('a bounded map', () => {
  it('forgets the oldest entries above its number of entries', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 3);
    map.set('c', 4);
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([undefined, 2, 4]);
  });

  it('counts bytes, however few the entries are', () => {
    const map = new BoundedMap<string, string>(1_000, (key, value) => bytesOfText(key) + bytesOfText(value));
    map.set('a', 'x'.repeat(300));
    map.set('b', 'x');
    map.set('c', 'x'.repeat(300));
    expect([map.get('a'), map.get('b'), map.get('c')?.length]).toEqual([undefined, 'x', 300]);
    map.set('d', 'x'.repeat(1_000));
    expect([map.get('b'), map.get('c'), map.get('d')]).toEqual([undefined, undefined, undefined]);
  });

  it('counts an entry once that is replaced or deleted', () => {
    const map = new BoundedMap<string, string>(10, (_, value) => value.length);
    for (let n = 0; n < 100; n++) map.set('a', 'x'.repeat(n % 9));
    map.set('b', 'y');
    expect([map.get('a')?.length, map.get('b')]).toEqual([0, 'y']);
    map.delete('b');
    map.delete('b');
    map.set('c', 'z'.repeat(10));
    expect(map.get('c')).toHaveLength(10);
    map.clear();
    map.set('d', 'z'.repeat(10));
    expect(map.get('d')).toHaveLength(10);
  });
});
