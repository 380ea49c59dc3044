import { describe, expect, it } from '@jest/globals';
import { cut, harmless, harmlessJson, momentOf, printed, table } from './text.js';

const plain = { colours: false, columns: undefined };
const lines = (rows: readonly (readonly string[])[], columns?: number): readonly string[] =>
  table(['NAME', 'ID'], rows, { colours: false, columns }).map((line) => printed(line, plain));

describe('a text of others', () => {
  it.each([
    ['\u001b[2J\u001b]0;owned\u0007', String.raw`\u001b[2J\u001b]0;owned\u0007`],
    ['\u009b31m', String.raw`\u009b31m`],
    ['a\r\nb\tc', String.raw`a\r\nb\tc`],
    ['abc\u202edef', String.raw`abc\u202edef`],
    ['\ud800', String.raw`\ud800`],
    ['Zoë 👩‍👩‍👧 日本', 'Zoë 👩‍👩‍👧 日本'],
  ])('cannot act on a terminal: %j', (text, shown) => {
    expect(harmless(text)).toBe(shown);
    expect(printed([{ text, as: 'bad' }], plain)).toBe(shown);
  });

  it('keeps its value as JSON', () => {
    const value = { name: '\u001b[2J\u009b\u202e\u2028' };
    const json = harmlessJson(JSON.stringify(value));
    expect(json).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(json)).toEqual(value);
  });
});

describe('a table', () => {
  const long = 'x'.repeat(200);

  it('has columns as wide as what they show', () => {
    expect(
      lines([
        ['日本', '1'],
        ['abc\u001b', '2'],
      ]),
    ).toEqual(['NAME       ID', '日本       1', String.raw`abc\u001b  2`]);
  });

  it('is cut on a terminal, and never in a pipe', () => {
    expect(lines([[long, 'dc_1']], 40)[1]).toBe(`${'x'.repeat(33)}…  dc_1`);
    expect(lines([[long, 'dc_1']])[1]).toBe(`${long}  dc_1`);
    expect(lines([[long, long]], 10)[1]).toBe(`${'x'.repeat(7)}…  ${'x'.repeat(7)}…`);
  });

  it('is cut between characters', () => {
    expect(cut('日本日本', 4)).toBe('日…');
    expect(cut('👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧', 5)).toBe('👩‍👩‍👧👩‍👩‍👧…');
  });
});

describe('colours', () => {
  it('are where they are wanted', () => {
    const line = [{ text: 'gone', as: 'bad' as const }];
    expect(printed(line, { colours: true, columns: 80 })).toBe('\u001b[31mgone\u001b[39m');
    expect(printed(line, plain)).toBe('gone');
  });
});

describe('a moment', () => {
  it('may be none', () => {
    expect(momentOf(1e300, plain)).toBe('1e+300');
    expect(momentOf(1e300, { colours: false, columns: 80 })).toBe('1e+300');
  });

  it('is local with its zone on a terminal, and else of UTC', () => {
    expect(momentOf(1_764_320_000_123, plain)).toBe('2025-11-28T08:53:20.123Z');
    expect(momentOf(1_764_320_000_123, { colours: false, columns: 80 })).toMatch(
      /^2025-11-2[789] \d\d:\d\d:20 [+-]\d\d:\d\d$/,
    );
  });
});
