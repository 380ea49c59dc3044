import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { testFiles } from './test-files.js';

const folder = tempDir('test-files');
afterAll(() => removeDir(folder));
for (const name of ['a.test.mjs', 'shop/b.test.ts', 'shop/b.ts', 'node_modules/c.test.js', '.git/d.test.cjs']) {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), '');
}

describe('files of tests', () => {
  it.each<[readonly string[], readonly string[]]>([
    [[], ['a.test.mjs', 'shop/b.test.ts']],
    [['shop'], ['shop/b.test.ts']],
    [['b.te', 'shop/b.test.ts'], ['shop/b.test.ts']],
    [['nothing'], []],
  ])('are found by %j', (patterns, expected) => {
    expect(testFiles(folder, patterns)).toEqual(expected.map((name) => join(folder, name)));
  });
});
