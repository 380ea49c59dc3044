import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '#test/harness/paths.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { readGuide, type GuideBlock } from './guide.js';
import { GuideShell } from './guide-shell.js';

const guides = ['README.md', ...readdirSync(join(ROOT, 'docs/how-to')).map((name) => `docs/how-to/${name}`)];
const isRun = ({ language, noRun, stop, file }: GuideBlock): boolean =>
  (language === 'sh' || stop !== undefined || file !== undefined) && noRun === undefined;

const follow = async (blocks: readonly GuideBlock[]): Promise<void> => {
  const shell = await GuideShell.for(blocks);
  try {
    for (const [n, block] of blocks.entries()) {
      const next = blocks[n + 1];
      const shown = next?.language === 'text' && next.output === undefined ? next.text : undefined;
      if (isRun(block)) await shell.do(block, shown);
      const owner = blocks.slice(0, n).findLast(({ language }) => language !== 'text');
      if (block.language !== 'text' || block.noRun !== undefined || !owner || !isRun(owner)) continue;
      const output = await shell.outputFor(block.text, block.output);
      if (!shell.patternOf(block.text).test(output))
        throw new Error(`line ${block.line} shows\n${block.text}\nbut the output is\n${output}`);
    }
  } finally {
    await shell.close();
  }
};

// What cannot be run is at least read by the program that it is for, where that is installed.
describe.each(guides)('%s', (page) => {
  const blocks = readGuide(page);
  const scratch = tempDir('guide-files');
  afterAll(() => removeDir(scratch));

  if (blocks.some(isRun)) it('works as written', () => follow(blocks), 240_000);

  it('has commands that a shell can read, and a reason beside each that is not run', () => {
    for (const { language, text, noRun, line } of blocks.filter((block) => block.language === 'sh')) {
      execFileSync('bash', ['-n'], { input: text, stdio: ['pipe', 'pipe', 'pipe'] });
      expect({ page, line, language, noRun: noRun ?? 'it is run, as it should' }).toMatchObject({
        noRun: expect.stringMatching(/\S+ \S+ \S+/),
      });
    }
  });

  it('has JavaScript that Node can read', () => {
    for (const [n, { text, language }] of blocks.entries()) {
      if (!['js', 'mjs'].includes(language)) continue;
      mkdirSync(scratch, { recursive: true });
      const file = join(scratch, `${n}.mjs`);
      writeFileSync(file, text);
      execFileSync(process.execPath, ['--check', file], { stdio: 'pipe' });
    }
  });
});
