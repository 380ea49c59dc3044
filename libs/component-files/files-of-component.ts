import { isUtf8 } from 'node:buffer';
import { closeSync, existsSync, fstatSync, openSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { type BuildFailure, type Message, type Plugin } from 'esbuild';
import { messageOf } from '#libs/kernel/error-message.js';

/** Code with the files that it imports, as the API takes them. */
export interface FilesOfComponent {
  readonly code: string;
  /** Path of the code below the root, with slashes. */
  readonly fileName: string;
  /** Texts of the others by their paths below the root. */
  readonly files: Readonly<Record<string, string>>;
  /** All of them on this computer. */
  readonly paths: readonly string[];
}

const MOST_FILES = 200;
/** What the API takes in one request. */
const MOST_KB = 2_304;
const CODE = /\.[mc]?[jt]s$/;
/** Endings that an import may lack, as the server tries them (docs/reference/component-model.md#relative-imports). */
const ENDINGS = ['', '.mjs', '.js', '.cjs', '.ts', '.mts', '.cts', '.json', '/index.mjs', '/index.js', '/index.ts'];

/**
 * Reads a file and what it imports by relative paths, within its project: the folder `root`, else the nearest one with a
 * package.json or .git, else the folder of the file. esbuild parses the files and evaluates none. What it cannot parse
 * is left to the server, which says so. Rejects with FilesRefused.
 */
export const filesOfComponent = async (file: string, root: string | undefined): Promise<FilesOfComponent> => {
  const entry = path.resolve(file);
  if (!isFile(entry)) throw new FilesRefused(`there is no file ${file}`);
  if (!CODE.test(entry)) throw new FilesRefused(`${file} must end in .mjs, .cjs, .js, .mts, .cts or .ts`);
  const reader = new ProjectReader(folderOf(entry, root));
  await readAll(reader, entry, file);
  const { [reader.nameOf(entry)]: code = '', ...files } = Object.fromEntries(reader.texts);
  return { code, fileName: reader.nameOf(entry), files, paths: [...reader.paths] };
};

const isFile = (name: string): boolean => statSync(name, { throwIfNoEntry: false })?.isFile() === true;

const folderOf = (entry: string, root: string | undefined): string => {
  if (root === undefined) return projectOf(path.dirname(entry));
  const folder = path.resolve(root);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder;
  throw new FilesRefused(`--root: ${root} is no folder`);
};

/** The nearest folder with a package.json or .git, else the folder itself. */
export const projectOf = (folder: string): string => {
  for (let each = folder; ; each = path.dirname(each)) {
    if (existsSync(path.join(each, 'package.json')) || existsSync(path.join(each, '.git'))) return each;
    if (each === path.dirname(each)) return folder;
  }
};

/** Why a set of files is no component, for its author. */
export class FilesRefused extends Error {}

/** Reads files of one project, and no others, up to the limits. */
class ProjectReader {
  /** Text by path below the root. */
  readonly texts = new Map<string, string>();
  readonly paths = new Set<string>();
  private bytes = 0;
  private readonly realRoot: string;

  constructor(private readonly root: string) {
    this.realRoot = realpathSync(root);
  }

  nameOf(file: string): string {
    return path.relative(this.root, file).split(path.sep).join('/');
  }

  /** Throws FilesRefused for a file outside of the project, and for a link that leads out. */
  admit(file: string, named: string): void {
    const hint = `outside of the project ${this.root}: move it there, or name a higher folder with --root`;
    if (!isWithin(this.root, file)) throw new FilesRefused(`${named} leads to ${file}, ${hint}`);
    if (!existsSync(file)) return;
    const real = realpathSync(file);
    if (!isWithin(this.realRoot, real)) throw new FilesRefused(`${named} is a symbolic link to ${real}, ${hint}`);
  }

  /** Throws FilesRefused for what is no text, and beyond the limits. */
  read(file: string): string {
    const name = this.nameOf(file);
    if (this.paths.size > MOST_FILES)
      throw new FilesRefused(`${name} is one file too many: a component may import ${MOST_FILES} files`);
    this.paths.add(file);
    const text = this.textOf(file, name);
    this.texts.set(name, text);
    return text;
  }

  /** Sizes of the open file are checked before it is read. */
  private textOf(file: string, name: string): string {
    const open = openSync(file, 'r');
    try {
      const { size } = fstatSync(open);
      this.bytes += size;
      const kb = Math.ceil(this.bytes / 1024);
      if (this.bytes > MOST_KB * 1024)
        throw new FilesRefused(
          `${name} has ${thousands(Math.ceil(size / 1024))} KB, and the files of the component ${thousands(kb)} KB with it: they may have ${thousands(MOST_KB)} KB together`,
        );
      const bytes = readFileSync(open);
      if (!isUtf8(bytes)) throw new FilesRefused(`${name} is no text in UTF-8`);
      return bytes.toString();
    } finally {
      closeSync(open);
    }
  }
}

const thousands = (count: number): string => count.toLocaleString('en-US');

const isWithin = (folder: string, file: string): boolean => {
  const below = path.relative(folder, file);
  return below !== '..' && !below.startsWith(`..${path.sep}`) && !path.isAbsolute(below);
};

const readAll = async (reader: ProjectReader, entry: string, named: string): Promise<void> => {
  const { build } = await import('esbuild');
  try {
    await build({
      entryPoints: [entry],
      plugins: [filesOf(reader, named)],
      bundle: true,
      write: false,
      platform: 'node',
      format: 'esm',
      logLevel: 'silent',
      tsconfigRaw: '{}',
    });
  } catch (error) {
    const messages = isBuildFailure(error) ? error.errors : undefined;
    if (messages === undefined) throw error;
    const [refused] = messages.filter(({ detail }) => detail instanceof FilesRefused);
    if (refused) throw new FilesRefused(placed(refused, reader));
  }
};

const isBuildFailure = (error: unknown): error is BuildFailure =>
  error instanceof Error && Array.isArray((error as Partial<BuildFailure>).errors);

const placed = ({ text, location }: Message, reader: ProjectReader): string => {
  if (!location) return text;
  const file = reader.nameOf(path.resolve(location.file.replace(/^own:/, '')));
  return `${file}:${location.line}:${location.column + 1}: ${text}`;
};

const OWN = 'own';

/** Lets esbuild find files by the rules of the server, and read them of the project only. */
const filesOf = (reader: ProjectReader, named: string): Plugin => ({
  name: 'files-of-component',
  setup: (hooks) => {
    hooks.onResolve({ filter: /.*/ }, ({ path: name, importer, kind }) => {
      if (kind === 'entry-point')
        return reported(() => {
          reader.admit(name, named);
          return { path: name, namespace: OWN };
        });
      if (!/^\.{1,2}(?:\/|$)/.test(name)) return { path: name, external: true };
      return reported(() => {
        const wanted = path.resolve(path.dirname(importer), name);
        const file = candidates(wanted).find(isFile);
        reader.admit(file ?? wanted, `the import "${name}"`);
        if (file === undefined) throw new FilesRefused(`the import "${name}" leads to no file`);
        return { path: file, namespace: OWN };
      });
    });
    hooks.onLoad({ filter: /.*/, namespace: OWN }, ({ path: file }) =>
      reported(() => {
        const contents = reader.read(file);
        if (!CODE.test(file)) return { contents, loader: 'text' };
        return { contents, loader: /ts$/.test(file) ? 'ts' : 'js' };
      }),
    );
  },
});

/** Also the TypeScript file that an import names by the one compiled of it. */
const candidates = (wanted: string): readonly string[] => [
  ...ENDINGS.map((ending) => `${wanted}${ending}`),
  ...(/\.[mc]?js$/.test(wanted) ? [wanted.replace(/js$/, 'ts')] : []),
];

/** What esbuild tells with the place of the import. */
const reported = <T>(act: () => T): T | { readonly errors: { readonly text: string; readonly detail: unknown }[] } => {
  try {
    return act();
  } catch (error) {
    const refused = error instanceof FilesRefused ? error : new FilesRefused(messageOf(error));
    return { errors: [{ text: refused.message, detail: refused }] };
  }
};
