import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { configReference } from '#libs/config/index.js';

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) => join('docs', name)),
].filter((name) => name.endsWith('.md'));

describe('documents', () => {
  it('list the settings that the code reads (mend: node dist/apps/cli/src/main.js config --reference)', () => {
    expect(readFileSync('docs/reference/config.md', 'utf8')).toBe(configReference());
  });

  it.each(pages)('%s links only to what is there', (page) => {
    const text = readFileSync(page, 'utf8').replace(/```[\s\S]*?```/g, '');
    const targets = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target]) => target as string);
    const missing = targets.filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(dirname(page), target)));
    expect(missing).toEqual([]);
  });
});
