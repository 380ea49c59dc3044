import { execFile } from 'node:child_process';
import { access, constants, realpath } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { MissingProgram } from './jail-level.js';

const run = promisify(execFile);

const PACKAGES: Readonly<Record<string, string>> = { bwrap: 'bubblewrap' };
const FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin', '/usr/local/sbin'];

const isExecutable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );

/** Finds the full path of a program. Rejects with MissingProgram. */
export const findProgram = async (name: string): Promise<string> => {
  const folders = [
    ...(process.env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder)),
    ...FOLDERS,
  ];
  for (const folder of folders) {
    const file = path.join(folder, name);
    if (await isExecutable(file)) return file;
  }
  throw new MissingProgram(name, PACKAGES[name] ?? 'util-linux');
};

/** Null where a program is missing. */
export const orNull = <T>(found: Promise<T>): Promise<T | null> =>
  found.catch((error: unknown) => {
    if (error instanceof MissingProgram) return null;
    throw error;
  });

export interface ProgramFiles {
  readonly file: string;
  /** Shared libraries and the loader, at the paths that the loader searches. */
  readonly libraries: readonly string[];
}

const known = new Map<string, Promise<ProgramFiles>>();

/** Finds the shared libraries of a program, once per program. */
export const programFiles = (file: string): Promise<ProgramFiles> => {
  const asked = known.get(file) ?? readFiles(file);
  known.set(file, asked);
  return asked;
};

const readFiles = async (file: string): Promise<ProgramFiles> => {
  const target = await realpath(file);
  return { file: target, libraries: await librariesOf(target) };
};

const librariesOf = async (file: string): Promise<string[]> => {
  // A statically linked program needs no libraries. ldd then fails or names no path.
  const output = await run('ldd', [file], { env: { PATH: process.env.PATH ?? FOLDERS.join(':'), LC_ALL: 'C' } }).then(
    ({ stdout }) => stdout,
    (error: { stdout?: string }) => error.stdout ?? '',
  );
  const found = [...output.matchAll(/^\s*(?:\S+ => )?(\/\S+) \(0x[0-9a-f]+\)$/gm)].map(([, library]) => library ?? '');
  const libraries = [...new Set(found)].filter((library) => library !== '');
  return [...libraries, ...(await restOfLibc(libraries))];
};

/** Parts of glibc that the program does not load itself, and machine code of packages may. */
const REST_OF_LIBC = ['libresolv.so.2', 'librt.so.1', 'libutil.so.1', 'libanl.so.1'];

const restOfLibc = async (libraries: readonly string[]): Promise<string[]> => {
  const libc = libraries.find((library) => path.basename(library) === 'libc.so.6');
  if (libc === undefined) return [];
  const files = REST_OF_LIBC.map((name) => path.join(path.dirname(libc), name));
  const isThere = await Promise.all(
    files.map((file) =>
      access(file).then(
        () => true,
        () => false,
      ),
    ),
  );
  return files.filter((file, index) => isThere[index] === true && !libraries.includes(file));
};
