import { existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { wrongUsage } from '../workflows/failure.js';
import { type NewFiles } from './templates.js';

/** Writes all files, or none when one is there and may not be replaced. Returns their paths. */
export const writeFiles = (folder: string, files: NewFiles, mayReplace: boolean): readonly string[] => {
  const paths = Object.keys(files).map((name) => path.join(folder, name));
  for (const name of Object.keys(files)) refuseLinks(folder, name);
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

/** A link that the folder came with may lead to any file of the user. */
const refuseLinks = (folder: string, name: string): void => {
  const parts = name.split('/');
  for (let n = 1; n <= parts.length; n++) {
    const part = path.join(folder, ...parts.slice(0, n));
    if (lstatSync(part, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      throw wrongUsage(`${part} is a symbolic link: choose another name, or remove it`);
  }
};
