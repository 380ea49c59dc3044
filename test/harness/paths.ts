import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout, found from this file, whether it runs as TypeScript (jest) or from dist. */
const findRoot = (): string => {
  let dir = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(dir, 'package.json'))) {
    const up = dirname(dir);
    if (up === dir) throw new Error('no package.json above test/harness: where is the checkout?');
    dir = up;
  }
  return dir;
};

export const ROOT = findRoot();
export const example = (...parts: string[]): string => join(ROOT, 'examples', ...parts);
