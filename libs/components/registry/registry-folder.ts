import { createHash } from 'node:crypto';
import { type Dirent } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { crawled, type FetchText } from '../fetch/crawled-fetcher.js';
import { sourceOfFile } from './build-progress.js';
import { type CodeLimits, type FetchedComponent } from '../ports.js';

/** Most files below the folder that are read. */
const MAX_FILES = 50_000;
/** Folders without components. One whose name begins with a dot is skipped too, because a copy may be filling it. */
const SKIPPED = new Set(['node_modules', 'test', 'tests']);
/** Folders with the output of a compiler, in a repository. A package of the npm registry may have nothing else. */
const COMPILED = /(?:^|\/)dist\//;
const CODE = /\.(?:[cm]?js|[cm]?ts)$/;
const NOT_A_COMPONENT = /\.app\.[cm]?[jt]s$|\.(?:test|spec)\.[cm]?[jt]s$|\.d\.[cm]?ts$/;
/** Pattern in the text of a component. The text is matched, never parsed or run. */
const DECLARES_KEY = /\bkey["']?\s*:\s*["'`][\w.@/-]{1,200}["'`]/;

export interface RegistryFolder {
  /** Changes whenever a file below the folder does. */
  fingerprint(): Promise<string>;
  /** Paths of the files that look like components, in order. Rejects when the folder is missing or too large. */
  candidates(): Promise<readonly string[]>;
  /** Reads a candidate with everything that it imports by a relative path. Rejects with DomainError component.*. */
  read(candidate: string): Promise<FetchedComponent>;
}

interface Found {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
}

/**
 * Components in a folder of the operator (docs/reference/component-model.md#registry). Symbolic links are not followed,
 * so that a repository cannot name files outside of the folder.
 */
export const registryFolder = (root: string, limits: CodeLimits): RegistryFolder => ({
  async fingerprint() {
    const hash = createHash('sha256');
    for (const file of await filesBelow(root)) hash.update(`${file.path}\n${file.size}\n${file.mtimeMs}\n`);
    return hash.digest('hex');
  },

  async candidates() {
    const found: string[] = [];
    for (const { path: name, size } of await filesBelow(root)) {
      if (NOT_A_COMPONENT.test(name) || size > limits.fileBytes) continue;
      if (DECLARES_KEY.test(await readFile(path.join(root, name), 'utf8'))) found.push(name);
    }
    const own = new Set(found.filter((name) => !COMPILED.test(name)).map(sourceOfFile));
    return found.filter((name) => !COMPILED.test(name) || !own.has(sourceOfFile(name)));
  },

  read: async (candidate) => crawled(fileReader(await realpath(root), limits), limits, urlOf(candidate)),
});

const filesBelow = async (root: string): Promise<readonly Found[]> => {
  const entries = await readdir(root, { withFileTypes: true });
  const found: Found[] = [];
  await collect(root, '', entries, found);
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
};

const collect = async (root: string, below: string, entries: readonly Dirent[], found: Found[]): Promise<void> => {
  for (const entry of entries) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory() && !SKIPPED.has(entry.name) && !entry.name.startsWith('.')) {
      await collect(root, name, await readdir(path.join(root, name), { withFileTypes: true }), found);
    } else if (entry.isFile() && CODE.test(entry.name)) {
      const { size, mtimeMs } = await stat(path.join(root, name));
      found.push({ path: name, size, mtimeMs });
      if (found.length > MAX_FILES)
        throw new Error(`${root} has more than ${MAX_FILES} files of code: keep fewer of them in the registry`);
    }
  }
};

/** Address of a file within the crawl. Nothing is ever requested from it. */
const ORIGIN = 'http://registry.invalid/';
const urlOf = (name: string): string => ORIGIN + name.split('/').map(encodeURIComponent).join('/');

class NotThere extends Error {
  readonly status = 404;
  constructor(readonly finalUrl: string) {
    super(`${decodeURIComponent(new URL(finalUrl).pathname.slice(1))} is not in the registry`);
  }
}

const fileReader =
  (root: string, limits: CodeLimits): FetchText =>
  async (url) => {
    const name = decodeURIComponent(new URL(url).pathname);
    const file = path.join(root, name);
    const real = await realpath(file).catch(() => undefined);
    // A link, or a path that leads out of the folder.
    if (real === undefined || real !== file || !real.startsWith(`${root}${path.sep}`)) throw new NotThere(url);
    const facts = await stat(real);
    if (!facts.isFile()) throw new NotThere(url);
    if (facts.size > limits.fileBytes)
      throw new Error(`${name} has ${facts.size} bytes, the limit is ${limits.fileBytes}`);
    return { finalUrl: url, text: await readFile(real, 'utf8') };
  };
