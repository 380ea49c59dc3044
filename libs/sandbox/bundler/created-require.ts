/**
 * `createRequire(import.meta.url)` in components (docs/reference/component-model.md#create-require). A bundle has no
 * packages on disk, so the module `node:module` of a component that uses it is replaced by one whose `createRequire`
 * knows what was bundled. Runs in the build jail.
 */
import path from 'node:path';
import { type Loader } from 'esbuild';
import { type Compiler } from './compile.js';
import { type ComponentFiles } from './component-files.js';
import { resolveImport } from './imports.js';

/** Namespace of the module that takes the place of `node:module`. It has one file, of the same name. */
export const CREATED = 'created-require';

export interface CreatedRequires {
  /** File in which each name is required by a literal. */
  readonly importers: ReadonlyMap<string, string>;
  /** A name is computed, so that it may be any package that the component imports. */
  readonly isComputed: boolean;
}

export const isModuleModule = (name: string): boolean => name === 'module' || name === 'node:module';

/** Finds what the component requires through `createRequire`. Null for a component that does not use it. */
export const createdRequiresIn = async (
  compiler: Compiler,
  { texts }: ComponentFiles,
): Promise<CreatedRequires | null> => {
  const using = [...texts].filter(([, text]) => text.includes('createRequire'));
  if (using.length === 0) return null;
  const importers = new Map<string, string>();
  let isComputed = false;
  for (const [file, text] of using) {
    const found = callsIn(await plainCode(compiler, file, text));
    isComputed ||= found.isComputed;
    for (const name of found.names) {
      const { kind } = resolveImport({ entry: file, texts }, name, file);
      // A file that is not the component's own may be one that its code writes.
      if (kind !== 'refused' && !importers.has(name)) importers.set(name, file);
    }
  }
  return { importers, isComputed };
};

const LOADERS: Readonly<Record<string, Loader>> = { '.ts': 'ts', '.mts': 'ts', '.cts': 'ts' };

/** The code as esbuild prints it: without comments, and always spaced and quoted in the same way. */
const plainCode = async (compiler: Compiler, file: string, contents: string): Promise<string> => {
  const extension = path.posix.extname(file);
  if (extension === '.json' || extension === '.txt' || extension === '.md') return '';
  try {
    const { outputFiles = [] } = await compiler.build({
      stdin: { contents, loader: LOADERS[extension] ?? 'js' },
      bundle: false,
      write: false,
      logLevel: 'silent',
      tsconfigRaw: '{}',
      absWorkingDir: '/',
      target: 'node20',
      charset: 'utf8',
    });
    return outputFiles[0]?.text ?? '';
  } catch {
    // The build itself reports what is wrong with the code.
    return '';
  }
};

const LITERAL = /^(?:"(?:[^"\\\n]|\\.)*"|'[^'\\\n]*'|`[^`\\$]*`)/;
const escaped = (name: string): string => name.replaceAll('$', '\\$');

/** Names that are required by a literal in code that esbuild printed. */
const callsIn = (code: string): { readonly names: readonly string[]; readonly isComputed: boolean } => {
  const makers = [
    'createRequire',
    ...[...code.matchAll(/createRequire(?: as|:) ([\w$]+)/g)].map(([, name = '']) => name),
  ];
  const maker = `(?:${makers.map(escaped).join('|')})`;
  const made = [...code.matchAll(new RegExp(`([\\w$]+) = (?:[^;=\\n]*\\.)?${maker}\\(`, 'g'))].map(
    ([, name = '']) => name,
  );
  const names: string[] = [];
  let isComputed = false;
  const take = (call: RegExp): void => {
    for (const { 0: start, index } of code.matchAll(call)) {
      const literal = LITERAL.exec(code.slice(index + start.length, index + start.length + 300))?.[0];
      const name = literal === undefined ? undefined : textOf(literal);
      if (name === undefined) isComputed = true;
      else names.push(name);
    }
  };
  take(new RegExp(`\\b${maker}\\([^()]*\\)\\(`, 'g'));
  for (const name of new Set(made)) take(new RegExp(`(?<![\\w$.])${escaped(name)}\\(`, 'g'));
  return { names, isComputed };
};

const textOf = (literal: string): string | undefined => {
  if (!literal.startsWith('"')) return literal.slice(1, -1);
  try {
    return JSON.parse(literal) as string;
  } catch {
    return undefined;
  }
};

/**
 * Code of the module that takes the place of `node:module`.
 *
 * @param specifiers those of the lock
 */
export const moduleCode = ({ importers, isComputed }: CreatedRequires, specifiers: readonly string[]): string => {
  const names = new Set([...importers.keys(), ...(isComputed ? specifiers : [])]);
  const table = [...names].map((name) => `[${JSON.stringify(name)}, () => require(${JSON.stringify(name)})]`);
  return `const bundled = new Map([${table.join(', ')}]);${RUNTIME}`;
};

const RUNTIME = `
const real = require('node:module');
const explained = (name, error) => {
  if (!error || error.code !== 'MODULE_NOT_FOUND' || /^[./]/.test(name)) return error;
  const text = 'Cannot find module ' + JSON.stringify(name) + ': a function of createRequire finds modules of Node, and ' +
    'npm packages whose name stands in quotes in the call, or which the component imports elsewhere';
  return Object.assign(new Error(text), { code: 'MODULE_NOT_FOUND' });
};
const createRequire = (file) => {
  const plain = real.createRequire(file);
  const found = (name) => {
    const load = bundled.get(name);
    if (load) return load();
    try { return plain(name); } catch (error) { throw explained(name, error); }
  };
  const resolve = (name, options) => {
    try { return plain.resolve(name, options); } catch (error) {
      if (!bundled.has(name)) throw explained(name, error);
      const text = 'npm package ' + JSON.stringify(name) + ' is bundled with the component, so it has no path';
      throw Object.assign(new Error(text), { code: 'MODULE_NOT_FOUND' });
    }
  };
  return Object.assign(found, plain, { resolve });
};
module.exports = new Proxy(real, {
  get: (target, key) => (key === 'createRequire' ? createRequire : Reflect.get(target, key)),
  has: (target, key) => key === 'createRequire' || Reflect.has(target, key),
});
`;
