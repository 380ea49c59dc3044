import { describe, expect, it } from '@jest/globals';
import { streamNames } from './stream-names.js';

const onServer = ['$ce-count', '$$count-1', 'count-1', 'a.count-1', 'ab.count-1', 'a.b.count-1', 'count-a.b'];
const seenWith = (prefix: string): (string | undefined)[] =>
  onServer.map((name) => streamNames(prefix).own(name)).filter((name) => name !== undefined);

describe('names of streams on the server', () => {
  it('keep installations apart, also when one prefix begins another', () => {
    expect(seenWith('a')).toEqual(['count-1']);
    expect(seenWith('ab')).toEqual(['count-1']);
    expect(seenWith('a.b')).toEqual(['count-1']);
    expect(streamNames('a.b').own('a.b.count-1')).toBe('count-1');
    expect(streamNames('a').own('a.b.count-1')).toBeUndefined();
  });

  it('keep the category before the first "-"', () => {
    expect(streamNames('a').onServer('count-1-2')).toBe('a.count-1-2');
    expect(streamNames('a.').onServer('count-1')).toBe('a.count-1');
  });

  it('refuse names that would not survive the round trip', () => {
    expect(() => streamNames('a-b')).toThrow('no "-"');
    expect(() => streamNames('')).toThrow('no "-"');
    expect(() => streamNames('a').onServer('$count-1')).toThrow('{category}-{id}');
    expect(() => streamNames('a').onServer('a.count-1')).toThrow('{category}-{id}');
  });

  it('let the server filter no own stream out', () => {
    for (const prefix of ['a', 'a.b']) {
      const filter = streamNames(prefix).filter(() => undefined);
      const passes = (name: string): boolean =>
        'prefixes' in filter && filter.prefixes.some((start) => name.startsWith(start));
      const own = onServer.filter((name) => streamNames(prefix).own(name) !== undefined);
      expect(onServer.filter(passes)).toEqual(expect.arrayContaining(own));
    }
  });
});
