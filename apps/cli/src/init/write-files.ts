import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { wrongUsage } from '../workflows/failure.js';
import { type NewFiles } from './templates.js';

/** Writes all files, or none when one is there and may not be replaced. Returns their paths. */
export const writeFiles = (folder: string, files: NewFiles, mayReplace: boolean): readonly string[] => {
  const paths = Object.keys(files).map((name) => path.join(folder, name));
  const there = paths.filter((file) => existsSync(file));
  if (there.length > 0 && !mayReplace)
    throw wrongUsage(`there is a file ${there.join(', ')} already: choose another name, or replace it with --force`);
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    // Without --force, a file that was created in the meantime is not replaced.
    writeFileSync(file, text, { flag: mayReplace ? 'w' : 'wx' });
  }
  return paths;
};
