import { describe, expect, it } from '@jest/globals';
import { yamlOf } from '#libs/workflows/domain/yaml-of.js';
import { readYaml } from './yaml-text.js';

const read = (text: string): unknown => {
  const answer = readYaml(text);
  return answer.kind === 'value' ? (JSON.parse(answer.json) as unknown) : { ...answer, text };
};

const PARTS = [
  ...[
    'a',
    ' ',
    '\n',
    '\t',
    ':',
    '#',
    '-',
    '"',
    "'",
    '\\',
    '|',
    '>',
    '&',
    '*',
    '!',
    '%',
    '@',
    '`',
    '{',
    '}',
    '[',
    ']',
    ',',
  ],
  ...[
    '?',
    '=',
    '~',
    '.',
    '0',
    '\r',
    '\0',
    '\x7f',
    '\x85',
    '\u2028',
    '\ufeff',
    '\ud800',
    'ä',
    '😀',
    '---',
    '...',
    ': ',
    ' #',
  ],
  ...['null', 'true', 'No', '1e3', '0x1f', '.inf', '<<', '2001-01-01', '{{ steps.a }}', '\n\n', '\n  ', '  \n'],
];

/** The same numbers in each run. */
const randomFrom = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
};

describe('written YAML', () => {
  const below = randomFrom(7);
  const text = (): string => Array.from({ length: below(6) }, () => PARTS[below(PARTS.length)]).join('');
  const value = (levels: number): unknown => {
    switch (below(levels > 0 ? 6 : 4)) {
      case 0:
        return [null, true, false, 0, -1, 1.5, 1e21, 5e-324][below(8)];
      case 4:
        return Array.from({ length: below(4) }, () => value(levels - 1));
      case 5:
        return Object.fromEntries(Array.from({ length: below(4) }, () => [text(), value(levels - 1)]));
      default:
        return text();
    }
  };

  it('is read as the same values', () => {
    for (let n = 0; n < 5_000; n++) {
      const written = { steps: value(4), code: text() };
      expect(read(yamlOf(written))).toEqual(written);
    }
  });

  it.each<[what: string, value: unknown]>([
    ['a long key', { ['k'.repeat(5_000)]: { a: [1] }, [':'.repeat(2_000)]: 'x\ny' }],
    ['an own __proto__', JSON.parse('{"__proto__":{"a":1}}')],
    ['no object', 'a\nb'],
    ['nothing', {}],
  ])('is read as the same values with %s', (_what, given) => expect(read(yamlOf(given))).toEqual(given));
});
