import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { wrongUsage } from '../author/failure.js';

const TEST = /\.test\.(?:mjs|js|ts|mts|cjs)$/;
/** Files and folders that are looked at. */
const MOST_ENTRIES = 100_000;

/**
 * The files of tests below a folder, sorted. A pattern names a file, a folder, or a part of the path; without one all
 * count. Throws for a folder that is too large, such as the root.
 */
export const testFiles = (folder: string, patterns: readonly string[]): readonly string[] => {
  if (patterns.length === 0) return below(folder);
  const found = patterns.flatMap((pattern) => {
    const named = path.resolve(folder, pattern);
    if (!existsSync(named)) return below(folder).filter((file) => path.relative(folder, file).includes(pattern));
    return statSync(named).isDirectory() ? below(named) : [named];
  });
  return [...new Set(found)].sort();
};

const below = (root: string): readonly string[] => {
  const files: string[] = [];
  const open = [root];
  let entries = 0;
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (++entries > MOST_ENTRIES)
        throw wrongUsage(`${root} has more than ${MOST_ENTRIES} files and folders: name a folder below it`);
      const file = path.join(folder, entry.name);
      if (entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.')) open.push(file);
      else if (entry.isFile() && TEST.test(entry.name)) files.push(file);
    }
  }
  return files.sort();
};
