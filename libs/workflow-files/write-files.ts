import { randomBytes } from 'node:crypto';
import { type Stats } from 'node:fs';
import { lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FolderError } from './folders.js';
import { type FileToWrite } from './files-of-workflow.js';

/** What stands at the place of a file: nothing, the same bytes, or others. */
export type FileThere = 'missing' | 'same' | 'differs';

/**
 * Looks at the place of a file below `root`, which may be missing. Rejects with FolderError when a link or anything but a
 * file is in the way, because what is written there would be elsewhere.
 */
export const fileThere = async (root: string, { path: name, text }: FileToWrite): Promise<FileThere> => {
  const parts = name.split('/');
  for (const [i] of parts.entries()) {
    const place = path.join(root, ...parts.slice(0, i + 1));
    const facts = await factsOf(place);
    if (facts === undefined) return 'missing';
    if (i < parts.length - 1 && !facts.isDirectory()) throw inTheWay(place, facts, 'folder');
    if (i === parts.length - 1 && !facts.isFile()) throw inTheWay(place, facts, 'file');
  }
  const bytes = Buffer.from(text);
  const file = path.join(root, name);
  if ((await lstat(file)).size !== bytes.length) return 'differs';
  return bytes.equals(await readFile(file)) ? 'same' : 'differs';
};

const factsOf = async (place: string): Promise<Stats | undefined> => {
  try {
    return await lstat(place);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new FolderError(`${place} cannot be looked at (${codeOf(error)})`);
  }
};

const inTheWay = (place: string, facts: Stats, wanted: string): FolderError =>
  new FolderError(
    facts.isSymbolicLink()
      ? `${place} is a symbolic link, which is not followed: remove it, or name another folder`
      : `${place} is no ${wanted}: move it away, or name another folder`,
  );

/** Writes a whole file or nothing. A reader never sees a part of it. Rejects with FolderError. */
export const writeWhole = async (root: string, file: FileToWrite): Promise<void> => {
  const target = path.join(root, file.path);
  const folder = path.dirname(target);
  const draft = path.join(folder, `.sluice-${randomBytes(6).toString('hex')}.tmp`);
  try {
    await mkdir(folder, { recursive: true });
    // Whatever was made since the place was looked at.
    await fileThere(root, file);
    await writeFile(draft, file.text, { flag: 'wx' });
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error instanceof FolderError ? error : new FolderError(`${target} cannot be written (${codeOf(error)})`);
  }
};

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'unknown error';
