import { describe, expect, it } from '@jest/globals';
import { dedupe, UNIQUE_CACHE_IDS } from './dedupe.js';

const ids = (...values: (string | number | undefined)[]) => values.map((id) => (id === undefined ? {} : { id }));
const passedIds = (result: { passed: readonly { id?: string | number }[] }) => result.passed.map((emit) => emit.id);

describe('dedupe "unique"', () => {
  it('passes new ids once, within a batch and across batches', () => {
    const first = dedupe('unique', undefined, ids('a', 'b', 'a'));
    expect(passedIds(first)).toEqual(['a', 'b']);
    expect(first.duplicates).toBe(1);
    const second = dedupe('unique', first.cache, ids('b', 'c'));
    expect(passedIds(second)).toEqual(['c']);
  });

  it('compares ids as text', () => {
    const first = dedupe('unique', undefined, ids(1));
    expect(dedupe('unique', first.cache, ids('1')).passed).toEqual([]);
  });

  it(`remembers ${UNIQUE_CACHE_IDS} ids, first in first out; a hit does not refresh its place`, () => {
    const many = Array.from({ length: UNIQUE_CACHE_IDS }, (_, i) => `id${i}`);
    const full = dedupe('unique', undefined, ids(...many));
    const hit = dedupe('unique', full.cache, ids('id0'));
    expect(hit.passed).toEqual([]);
    expect(hit.cache).toBeUndefined();
    const pushed = dedupe('unique', full.cache, ids('new'));
    expect(passedIds(dedupe('unique', pushed.cache, ids('id1', 'id0')))).toEqual(['id0']);
  });

  it('passes an event without an id, with a warning', () => {
    const result = dedupe('unique', undefined, ids(undefined, 'a', undefined));
    expect(result.passed).toHaveLength(3);
    expect(result.duplicates).toBe(0);
    expect(result.warnings).toEqual([expect.stringContaining('2 event(s) were emitted without an id')]);
  });
});

describe('dedupe "greatest"', () => {
  it('passes all of a growing batch, and none of it a second time', () => {
    const first = dedupe('greatest', undefined, ids(1, 2, '10'));
    expect(passedIds(first)).toEqual([1, 2, '10']);
    const again = dedupe('greatest', first.cache, ids(1, 2, '10'));
    expect(again.passed).toEqual([]);
    expect(again.duplicates).toBe(3);
    expect(again.cache).toBeUndefined();
  });

  it('drops an event whose id is not a number, with a warning', () => {
    const result = dedupe('greatest', undefined, ids('abc', 5));
    expect(passedIds(result)).toEqual([5]);
    expect(result.duplicates).toBe(0);
    expect(result.warnings[0]).toContain('"abc"');
  });

  it('starts empty when the cache is of another strategy', () => {
    expect(dedupe('greatest', { strategy: 'unique', ids: ['9'] }, ids(1)).passed).toHaveLength(1);
  });
});

describe('dedupe "last"', () => {
  it('passes the events after the cached id, or all when it is not in the batch', () => {
    const first = dedupe('last', undefined, ids('a', 'b'));
    expect(first.cache).toEqual({ strategy: 'last', id: 'b' });
    expect(passedIds(dedupe('last', first.cache, ids('a', 'b', 'c')))).toEqual(['c']);
    expect(passedIds(dedupe('last', first.cache, ids('x', 'y')))).toEqual(['x', 'y']);
  });

  it('passes nothing and learns nothing when the cached id is the newest', () => {
    const result = dedupe('last', { strategy: 'last', id: 'b' }, ids('a', 'b'));
    expect(result.passed).toEqual([]);
    expect(result.cache).toBeUndefined();
  });
});
