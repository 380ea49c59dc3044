import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { detectIsolation } from '#libs/sandbox/index.js';
import { Expressions } from './index.js';

const HALF_MB = 512 * 1024;
const bomb = [
  'a0: &a0 lol',
  ...Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(',')}]`),
].join('\n');

describe('YAML of hostile users', () => {
  let expressions: Expressions;

  beforeAll(async () => {
    expressions = new Expressions(await detectIsolation('auto'));
  });
  afterAll(() => expressions.close());

  // docs/reference/workflows.md#yaml-read
  it.each<[what: string, text: string, kinds: readonly string[]]>([
    ['an alias bomb', bomb, ['too_large', 'spoilt']],
    ['opening brackets', '['.repeat(HALF_MB), ['faults', 'spoilt']],
    ['closed brackets', '['.repeat(HALF_MB / 2) + ']'.repeat(HALF_MB / 2), ['faults', 'spoilt']],
    ['opening braces', '{a: '.repeat(HALF_MB / 4), ['faults', 'spoilt']],
    ['lists in lists', '- '.repeat(HALF_MB / 2), ['faults', 'spoilt']],
    ['complex keys', '? '.repeat(HALF_MB / 2), ['faults', 'spoilt']],
    ['levels of maps', Array.from({ length: 900 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'), ['faults']],
    ['a huge key', `${'k'.repeat(HALF_MB)}: 1`, ['faults']],
    ['a huge key in quotes', `"${'k'.repeat(HALF_MB)}": 1`, ['faults']],
    ['many keys', Array.from({ length: 60_000 }, (_, i) => `k${i}: 1`).join('\n'), ['too_large', 'spoilt']],
    ['many equal keys', 'a: 1\n'.repeat(12_000), ['faults', 'spoilt']],
    ['many anchors', '- &a x\n'.repeat(70_000), ['too_large', 'spoilt']],
    ['many aliases', `- &a x\n${'- *a\n'.repeat(20_000)}`, ['faults', 'spoilt']],
    ['many documents', '---\n'.repeat(100_000), ['faults', 'spoilt']],
    ['many tags', '- !a x\n'.repeat(70_000), ['too_large', 'spoilt']],
    ['escapes', `"${'\\"'.repeat(HALF_MB / 2)}"`, ['value']],
    ['a text of many lines', 'a\n'.repeat(HALF_MB / 2), ['value', 'spoilt']],
    ['blank lines of a block', `a: |\n${' \n'.repeat(HALF_MB / 2)}`, ['value', 'spoilt']],
    ['tabs', '\t'.repeat(HALF_MB), ['value', 'faults', 'spoilt']],
    ['commas', `[${','.repeat(HALF_MB)}`, ['faults', 'spoilt']],
    ['directives', '%a\n'.repeat(HALF_MB / 4), ['value', 'faults', 'spoilt']],
  ])('ends or is refused in its process, and the next is read: %s', async (_what, text, kinds) => {
    const read = await expressions.readYaml(text);
    expect(kinds).toContain(read.kind);
    expect(await expressions.readYaml('a: [1]')).toEqual({ kind: 'value', json: '{"a":[1]}' });
  });

  it('has places while it is readable, and none when it is not', async () => {
    expect(await expressions.locate('a: 1\nb: {c: 2}', [['b', 'c']])).toEqual([[2, 5]]);
    expect(await expressions.locate('['.repeat(HALF_MB), [['a']])).toEqual(expect.any(Array));
    expect(await expressions.locate('a: 1', [['a']])).toEqual([[1, 1]]);
  });
});
