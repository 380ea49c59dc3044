import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FolderError } from '#libs/workflow-files/folders.js';
import { fileThere } from '#libs/workflow-files/write-files.js';
import { wrongUsage } from '../author/failure.js';
import { type NewFiles } from './templates.js';

/** Writes all files, or none when one is there and may not be replaced. Resolves with their paths. */
export const writeFiles = async (folder: string, files: NewFiles, mayReplace: boolean): Promise<readonly string[]> => {
  const there: string[] = [];
  for (const [name, text] of Object.entries(files))
    if (await isThere(folder, name, text)) there.push(path.join(folder, name));
  if (there.length > 0 && !mayReplace)
    throw wrongUsage(`there is a file ${there.join(', ')} already: choose another name, or replace it with --force`);
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    // Without --force, a file that was created in the meantime is not replaced.
    writeFileSync(file, text, { flag: mayReplace ? 'w' : 'wx' });
  }
  return Object.keys(files).map((name) => path.join(folder, name));
};

/** Rejects with CommandFailure for a link, which may lead to any file of the user. */
const isThere = async (folder: string, name: string, text: string): Promise<boolean> => {
  try {
    return (await fileThere(folder, { path: name, text })) !== 'missing';
  } catch (error) {
    throw error instanceof FolderError ? wrongUsage(error.message) : error;
  }
};
