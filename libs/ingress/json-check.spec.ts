import { describe, expect, it } from '@jest/globals';
import { JsonCheck } from './json-check.js';

const check = (text: string, turn = 7): boolean => {
  const json = new JsonCheck(text);
  for (;;) {
    const valid = json.read(turn);
    if (valid !== undefined) return valid;
  }
};

const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** Generates the same numbers in every run (mulberry32). */
const seeded = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
};

const PIECES = [
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    ' ',
    '\n',
    '\t',
    '0',
    '1',
    '-',
    '+',
    '.',
    'e',
    'E',
    'true',
    'null',
    'fals',
  ],
  ...[
    '"a"',
    '"\\u00e9"',
    '\\u12',
    '"\\n"',
    '{"a":1}',
    '[1,2]',
    '-0.5e+10',
    '01',
    '\u0001',
    'é',
    '\ufeff',
    '\u2028',
    '[]',
    '{}',
  ],
];

describe('the check of JSON', () => {
  it.each([
    ...[
      '',
      ' ',
      '1',
      ' 1 ',
      '-',
      '-0',
      '00',
      '01',
      '1.',
      '.1',
      '1.5',
      '1e',
      '1e+',
      '1e+5',
      '1E-05',
      '1e5.5',
      '--1',
      '+1',
    ],
    ...['"', '""', '"a', '"\\"', '"\\""', '"\\x"', '"\\u12"', '"\\u12g4"', '"\\u1234"', '"\n"', '"\u007f"', "'a'"],
    ...['true', 'tru', 'truee', 'TRUE', 'null', 'nul', 'NaN', 'undefined', 'true false', '1 2'],
    ...['[', ']', '[]', '[1', '[1,', '[1,]', '[,1]', '[1 2]', '[[]', '[]]', '[}', '[1,2]', '[\t1\r\n,2 ]', '[1]x'],
    ...[
      '{',
      '}',
      '{}',
      '{"a"}',
      '{"a":}',
      '{"a":1',
      '{"a":1,}',
      '{a:1}',
      '{"a":1 "b":2}',
      '{"a":1,"b":[{}]}',
      '{1:2}',
      '{]',
    ],
    ...['\ufeff1', '\u00a01', '{"__proto__":1}', '\u00001', '1\u0000'],
  ])('says of %j what JSON.parse says', (text) => {
    expect(check(text)).toBe(parses(text));
  });

  it('agrees with JSON.parse on 20,000 texts that are nearly JSON, in turns of any length', () => {
    const random = seeded(7);
    let valid = 0;
    for (let i = 0; i < 20_000; i++) {
      const text = Array.from(
        { length: 1 + Math.floor(random() * 6) },
        () => PIECES[Math.floor(random() * PIECES.length)],
      ).join('');
      const parsed = parses(text);
      if (parsed) valid++;
      if (check(text, 1 + Math.floor(random() * 9)) !== parsed)
        throw new Error(`${JSON.stringify(text)} parses: ${parsed}`);
    }
    expect(valid).toBeGreaterThan(500);
  });

  it('counts depth, not brackets in strings', () => {
    const json = new JsonCheck('{"a":[1,{"b":"[[["}],"c":[]}');
    expect(json.read(1_000)).toBe(true);
    expect(json.depth).toBe(3);
  });

  it('reads as many characters per turn as requested', () => {
    const json = new JsonCheck(JSON.stringify('x'.repeat(1_000)));
    let turns = 1;
    while (json.read(100) === undefined) turns++;
    expect(turns).toBe(11);
  });
});
