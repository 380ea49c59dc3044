import { readFileSync } from 'node:fs';
import path from 'node:path';

export interface ComponentText {
  readonly code: string;
  readonly fileName: string;
  readonly files: Readonly<Record<string, string>>;
}

/** Reads a component and what it imports by relative paths. esbuild parses the files and evaluates none. */
export const readComponent = async (file: string): Promise<ComponentText> => {
  const code = readFileSync(file, 'utf8');
  if (!IMPORTS_FILES.test(code)) return { code, fileName: path.basename(file), files: {} };
  const inputs = await inputsOf(file);
  const root = commonFolder([file, ...inputs]);
  const nameOf = (each: string): string => path.relative(root, each).split(path.sep).join('/');
  const others = inputs.filter((each) => each !== file);
  return {
    code,
    fileName: nameOf(file),
    files: Object.fromEntries(others.map((each) => [nameOf(each), readFileSync(each, 'utf8')])),
  };
};

const IMPORTS_FILES = /['"`]\.{1,2}\//;

const inputsOf = async (file: string): Promise<readonly string[]> => {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    packages: 'external',
    loader: { '.txt': 'text', '.md': 'text' },
    absWorkingDir: path.dirname(file),
    logLevel: 'silent',
    tsconfigRaw: '{}',
  });
  return Object.keys(metafile.inputs).map((name) => path.resolve(path.dirname(file), name));
};

const commonFolder = (files: readonly string[]): string => {
  let folder = path.dirname(files[0] ?? '');
  while (files.some((file) => path.relative(folder, file).startsWith('..'))) folder = path.dirname(folder);
  return folder;
};
