import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a folder for this user alone, with the folders above it. Throws the error of the operating system. It replaces
 * `mkdirSync` with `recursive`, which loops without end where a folder exists and nothing can be made in it (`/proc`).
 */
export const makeDirectory = (folder: string): void => {
  const path = resolve(folder);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
    const parent = dirname(path);
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' || existsSync(parent)) throw error;
    makeDirectory(parent);
    makeDirectory(path);
  }
};
