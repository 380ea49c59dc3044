import { describe, expect, it } from '@jest/globals';
import { applyPatch } from 'diff';
import { unifiedDiff } from './unified-diff.js';

const diff = (before: string, after: string): Promise<string> =>
  unifiedDiff({ name: 'version 1', text: before }, { name: 'version 2', text: after });
const lines = (count: number, word: string): string =>
  Array.from({ length: count }, (_, at) => `${word} ${at}\n`).join('');

describe('the unified diff of two definitions', () => {
  it('shows the changed lines with three around them', async () => {
    const before = lines(20, 'line');
    expect(await diff(before, before.replace('line 9\n', 'other\n'))).toBe(
      [
        ...['--- version 1', '+++ version 2', '@@ -7,7 +7,7 @@', ' line 6', ' line 7', ' line 8'],
        ...['-line 9', '+other', ' line 10', ' line 11', ' line 12', ''],
      ].join('\n'),
    );
  });

  it('is empty for equal texts, and adds all lines to an empty one', async () => {
    expect(await diff('a\n', 'a\n')).toBe('');
    expect(await diff('', 'a\nb\n')).toBe('--- version 1\n+++ version 2\n@@ -0,0 +1,2 @@\n+a\n+b\n');
  });

  it.each([
    ['one of many lines has changed', lines(15_000, 'line'), lines(15_000, 'line').replace('line 7\n', 'other\n')],
    ['many lines have changed', lines(9, 'same') + lines(700, 'line'), lines(9, 'same') + lines(600, 'other')],
    ['all of many lines are added', '', lines(30_000, 'line')],
  ])('replaces all lines when %s, which still makes one text of the other', async (_, before, after) => {
    const patch = await diff(before, after);
    const [from, to] = [before, after].map((text) => text.split('\n').length - 1);
    expect(patch.split('\n')[2]).toBe(`@@ -${from === 0 ? 0 : 1},${from} +1,${to} @@`);
    expect(applyPatch(before, patch)).toBe(after);
  });
});
