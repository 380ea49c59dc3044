import { describe, expect, it } from '@jest/globals';
import { hasPart, withoutEnding } from './text-search.js';

/** Texts of two letters, so that parts nearly match in many places. */
const texts = (length: number, count: number): string[] => {
  let seed = 7;
  const next = (): number => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31);
  return Array.from({ length: count }, () => Array.from({ length }, () => (next() % 5 === 0 ? 'b' : 'a')).join(''));
};

describe('a search for a part of a text', () => {
  it('finds what the engine finds', () => {
    for (const text of texts(120_000, 4)) {
      for (const part of [...texts(20, 30), ...texts(40, 10), text.slice(100, 160), text.slice(-50), text])
        expect(hasPart(text, part)).toBe(text.includes(part));
    }
    expect(hasPart('a', 'a'.repeat(2_000_000))).toBe(false);
    expect(hasPart('', '')).toBe(true);
    expect(hasPart('ä€😀'.repeat(40_000), '€😀ä'.repeat(20))).toBe(true);
    expect(hasPart('ä€😀'.repeat(40_000), '€😀😀'.repeat(20))).toBe(false);
  });

  // In quadratic time each of these takes more than an hour.
  it.each([
    ['the first letters', `ab${'a'.repeat(4_000_000)}`],
    ['the middle', `${'a'.repeat(2_000_000)}b${'a'.repeat(2_000_000)}`],
    ['the end', `${'a'.repeat(4_000_000)}b`],
  ])('takes one pass over a text that differs at %s', (_, part) => {
    expect(hasPart('a'.repeat(16_000_000), part)).toBe(false);
  });
});

describe('a text without its ending', () => {
  it.each([
    ['a/b///', '/', 'a/b'],
    ['///', '/', ''],
    ['a', '/', 'a'],
    ['', '/', ''],
    ['a/', '', 'a/'],
  ])('%j without %j is %j', (text, ending, rest) => expect(withoutEnding(text, ending)).toBe(rest));

  // A pattern with `+$` takes hours.
  it('looks at the ending alone', () => {
    const text = `${'/'.repeat(8_000_000)}x`;
    expect(withoutEnding(text, '/')).toBe(text);
  });
});
