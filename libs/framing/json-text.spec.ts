import { describe, expect, it } from '@jest/globals';
import { depthOf, isPlainJson } from './json-text.js';
import { mulberry } from '#libs/sandbox/testing/random.js';

const valueOf = (random: () => number, depth: number): unknown => {
  const kind = Math.floor(random() * (depth === 0 ? 4 : 6));
  const count = Math.floor(random() * 4);
  switch (kind) {
    case 0:
      return random() * 1e6 - 5e5;
    case 1:
      return random() < 0.5;
    case 2:
      return null;
    case 3:
      return 'a"\\\n\u00e4\u{1F600}\u0001'.slice(0, count * 3);
    case 4:
      return Array.from({ length: count }, () => valueOf(random, depth - 1));
    default:
      return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, valueOf(random, depth - 1)]));
  }
};

describe('JSON of a child', () => {
  it('may nest 256 deep, brackets within strings not counted', () => {
    expect(isPlainJson('['.repeat(256) + ']'.repeat(256))).toBe(true);
    expect(isPlainJson('['.repeat(257) + ']'.repeat(257))).toBe(false);
    expect(isPlainJson('{"a":'.repeat(257) + '1' + '}'.repeat(257))).toBe(false);
    expect(isPlainJson(JSON.stringify({ text: '[{"\\'.repeat(500) }))).toBe(true);
    expect(isPlainJson(JSON.stringify(Array.from({ length: 1_000 }, () => [{}])))).toBe(true);
    expect(depthOf('{"a":[1,{"b":"[[["}]}')).toBe(3);
  });

  it.each(['', '{', 'undefined', '1 2', "{'a':1}", 'NaN'])('is checked: %s', (text) => {
    expect(isPlainJson(text)).toBe(false);
  });

  it('is judged the same when it is long, but without being parsed', () => {
    const pad = ' '.repeat(20_000);
    for (const text of [
      '{"a":[1,-2.5e+3,true,false,null,"\\u00e4\\n\\"",{},[]]}',
      '"x"',
      '-0',
      '[ [ ] , { "a" : [ ] } ]',
    ])
      expect([text, isPlainJson(pad + text), isPlainJson(text + pad)]).toEqual([text, true, true]);
    for (const text of [
      '',
      '[',
      '[1',
      '[1,',
      '[,]',
      '[1,]',
      '{',
      '{"a"}',
      '{"a":}',
      '{"a":1,}',
      '{1:2}',
      ']',
      '[}',
      '{]',
    ])
      expect([text, isPlainJson(pad + text)]).toEqual([text, false]);
    for (const text of [
      '01',
      '1.',
      '.5',
      '+1',
      '1e',
      'tru',
      'nulll',
      '"',
      '"\\x"',
      '"\\u12"',
      '"\n"',
      '1 2',
      '[1 2]',
      '\u00a01',
    ])
      expect([text, isPlainJson(pad + text)]).toEqual([text, false]);
    expect(isPlainJson(pad + '['.repeat(256) + ']'.repeat(256))).toBe(true);
    expect(isPlainJson(pad + '['.repeat(257) + ']'.repeat(257))).toBe(false);
    expect(isPlainJson(`"${'\u{1F600}'.repeat(20_000)}"`)).toBe(true);
  });

  it("is judged like by the engine's parser, after any mutation", () => {
    const random = mulberry(7);
    const pad = ' '.repeat(20_000);
    const alphabet = '{}[]",:0123456789.eE+-\\u tfn\n';
    const outcomes = { good: 0, bad: 0 };
    for (let n = 0; n < 1_000; n++) {
      const whole = JSON.stringify(valueOf(random, 4));
      const at = Math.floor(random() * whole.length);
      const put = alphabet[Math.floor(random() * alphabet.length)] ?? '';
      const text = random() < 0.3 ? whole : whole.slice(0, at) + put + whole.slice(at + (random() < 0.5 ? 1 : 0));
      const expected = isPlainJson(text);
      outcomes[expected ? 'good' : 'bad']++;
      expect([text, isPlainJson(pad + text)]).toEqual([text, expected]);
    }
    expect(outcomes.good).toBeGreaterThan(150);
    expect(outcomes.bad).toBeGreaterThan(150);
  });
});
