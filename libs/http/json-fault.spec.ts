import { describe, expect, it } from '@jest/globals';
import { faultOf } from './json-fault.js';

describe('the fault of a JSON text', () => {
  it.each([
    ['{"url":x}', 7],
    ['{"url":', 7],
    ['{"a":1,}', 7],
    ["{'a':1}", 1],
    ['[1,,2]', 3],
    ['[1 2]', 3],
    ['{"a" 1}', 5],
    ['"\\x"', 1],
    ['{"a":[{"b":tru}]}', 11],
    ['', 0],
    ['{} {}', 3],
    ['{"a":"x\ny"}', 7],
  ])('in %j is at %i', (text, at) => {
    expect(faultOf(text)).toBe(at);
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
  });

  it('is none in JSON, also when it is long and deep', () => {
    const long = JSON.stringify({ code: 'a"\\\n\u{1F600}'.repeat(200_000), list: [1, -2.5e3, true, null, [], {}] });
    for (const text of [' {} ', '[]', '1', '"\\u00e4"', long, '['.repeat(256) + ']'.repeat(256)])
      expect(faultOf(text)).toBeUndefined();
  });

  it('is found wherever a text is cut or broken', () => {
    const text = JSON.stringify({ a: [1, { b: 'c\\d' }, null], e: { f: -1.5 } });
    for (let i = 0; i < text.length; i++) {
      expect([i, faultOf(text.slice(0, i))]).toEqual([i, expect.any(Number)]);
      const broken = `${text.slice(0, i)}\u0000${text.slice(i)}`;
      expect([i, faultOf(broken)]).toEqual([i, expect.any(Number)]);
    }
  });
});
