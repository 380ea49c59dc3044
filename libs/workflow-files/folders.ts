import { isUtf8 } from 'node:buffer';
import { type Dirent } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/** Entries of folders that are looked at. */
const MAX_ENTRIES = 100_000;
/** Folders within folders. */
const MAX_LEVELS = 32;
export const DEFINITION_FILES: readonly string[] = ['workflow.yaml', 'workflow.yml', 'workflow.json'];

export interface WorkflowFolder {
  /** Below the folder that was searched, with `/`; empty for that folder itself. */
  readonly path: string;
  /** Names of its files that hold a definition. More than one is an error of the author. */
  readonly definitionFiles: readonly string[];
}

/** A folder that cannot be read as one with workflows. The message names it and says what to do. */
export class FolderError extends Error {}

/**
 * The folders with workflows at and below `root`, in order of their paths. Symbolic links are not followed, and folders
 * with a leading dot and `node_modules` are left out. Rejects with FolderError.
 */
export const workflowFolders = async (root: string): Promise<readonly WorkflowFolder[]> => {
  const found: WorkflowFolder[] = [];
  let entries = 0;
  const collect = async (below: string, level: number): Promise<void> => {
    const here = await entriesOf(path.join(root, below));
    entries += here.length;
    if (entries > MAX_ENTRIES)
      throw new FolderError(`${root} has more than ${MAX_ENTRIES} files and folders: name a smaller folder`);
    const definitionFiles = DEFINITION_FILES.filter((name) => here.some((each) => each.name === name && isFile(each)));
    if (definitionFiles.length > 0) found.push({ path: below, definitionFiles });
    const folders = here.filter((each) => each.isDirectory() && !isSkipped(each.name));
    if (folders.length > 0 && level === MAX_LEVELS)
      throw new FolderError(`${path.join(root, below)} is ${MAX_LEVELS} folders deep, and has further ones`);
    for (const { name } of folders) await collect(below === '' ? name : `${below}/${name}`, level + 1);
  };
  await collect('', 0);
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
};

const entriesOf = async (folder: string): Promise<readonly Dirent[]> => {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    throw new FolderError(`${folder} cannot be read as a folder (${codeOf(error)})`);
  }
};

/** A link counts, so that its author is told about it. */
const isFile = (entry: Dirent): boolean => entry.isFile() || entry.isSymbolicLink();

/** Whether a folder with this name is left out. */
export const isSkipped = (name: string): boolean => name.startsWith('.') || name === 'node_modules';

export type ReadFile =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  /** `why` continues a sentence that begins with the name of the file. */
  | { readonly kind: 'refused'; readonly why: string };

/** Reads a text file of a folder. A file elsewhere, to which a link leads, is refused. */
export const readFileIn = async (folder: string, name: string, maxBytes: number): Promise<ReadFile> => {
  const file = path.join(await realpath(folder), name);
  try {
    if ((await realpath(file)) !== file) return refused('is a symbolic link, or in one, which is not followed');
    const facts = await stat(file);
    if (!facts.isFile()) return refused('is no file');
    if (facts.size > maxBytes) return refused(`has ${facts.size} bytes; the limit is ${maxBytes}`);
    const bytes = await readFile(file);
    return isUtf8(bytes) ? { kind: 'text', text: bytes.toString('utf8') } : refused('is not UTF-8 text');
  } catch (error) {
    const code = codeOf(error);
    return code === 'ENOENT' || code === 'ENOTDIR' ? { kind: 'missing' } : refused(`cannot be read (${code})`);
  }
};

const refused = (why: string): ReadFile => ({ kind: 'refused', why });

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'unknown error';
