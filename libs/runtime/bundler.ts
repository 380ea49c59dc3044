import { isBuiltin } from 'node:module';
import path from 'node:path';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  build,
  type BuildFailure,
  type BuildResult,
  type Message,
  type OnResolveArgs,
  type OnResolveResult,
  type Plugin,
} from 'esbuild';
import { DomainError } from '../kernel/domain-error.js';

/** A package that a component imports, as it is written there (`name`, `name@^1.0.0`, `@scope/name/sub`). */
export interface PackageResolver {
  /** Returns the folder whose node_modules holds them all. Rejects with DomainError component.package_unavailable. */
  resolve(specifiers: readonly string[]): Promise<string>;
}

export interface BundleInput {
  readonly code: string;
  /** Path of `code` among `files`; its ending tells the language. Default `component.mjs`. */
  readonly fileName?: string;
  /** Other files of the component, path to text. */
  readonly files?: Readonly<Record<string, string>>;
}

const NAMESPACE = 'component';
const ENDINGS = ['', '.mjs', '.js', '.cjs', '.ts', '.mts', '.cts', '.json', '/index.mjs', '/index.js', '/index.ts'];
const LOADERS: Readonly<Record<string, 'ts' | 'json' | 'text'>> = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.json': 'json',
  '.txt': 'text',
  '.md': 'text',
};
/** Packages whose names resolve to our own code (decisions.md 2.14). */
const SHIMS: ReadonlyMap<string, string> = new Map([
  ['@pipedream/platform', 'platform'],
  ['@pipedream/types', 'types'],
]);

/** Refuses every package: they come with the package installer. */
export const noPackages: PackageResolver = {
  resolve: (specifiers) =>
    Promise.reject(
      new DomainError(
        'component.package_unavailable',
        `the component imports the npm package ${specifiers.map((name) => `"${name}"`).join(', ')}: npm packages are not available yet, only the modules of Node, and files of the component itself`,
        { packages: specifiers },
      ),
    ),
};

/**
 * One CommonJS file with everything that a component imports (decisions.md 2.15).
 * Rejects with DomainError component.invalid (file, line, what is wrong) or component.package_unavailable.
 */
export const bundleComponent = async (
  input: BundleInput,
  packages: PackageResolver = noPackages,
): Promise<{ bundle: string }> => {
  const files = virtualFiles(input);
  const wanted = new Set<string>();
  let result = await buildFiles(files, { wanted });
  if (wanted.size > 0) {
    const packagesIn = await packages.resolve([...wanted].sort());
    result = await buildFiles(files, { wanted, packagesIn });
  }
  return { bundle: result.outputFiles?.[0]?.text ?? '' };
};

interface VirtualFiles {
  readonly entry: string;
  readonly texts: ReadonlyMap<string, string>;
}

interface Packages {
  /** Filled with the bare specifiers met. */
  readonly wanted: Set<string>;
  /** Folder with the node_modules to take them from; absent on the first pass, which only collects. */
  readonly packagesIn?: string;
}

const buildFiles = async (files: VirtualFiles, packages: Packages): Promise<BuildResult> => {
  try {
    return await build({
      entryPoints: [files.entry],
      plugins: [componentFiles(files, packages)],
      bundle: true,
      write: false,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      keepNames: true,
      charset: 'utf8',
      logLevel: 'silent',
      absWorkingDir: '/',
      tsconfigRaw: '{}',
      define: { 'import.meta.url': '"file:///tmp/component.js"' },
    });
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    throw invalidComponent(error.errors);
  }
};

const virtualFiles = (input: BundleInput): VirtualFiles => {
  const texts = new Map<string, string>();
  for (const [name, text] of Object.entries(input.files ?? {})) texts.set(insideOf('', name), text);
  const entry = insideOf('', input.fileName ?? 'component.mjs');
  texts.set(entry, input.code);
  return { entry, texts };
};

/** Path of a component's file, without a leading slash. Refuses one that leads out of the component's folder. */
const insideOf = (folder: string, name: string): string => {
  const file = path.posix.normalize(path.posix.join(folder, name));
  if (/[\0\\]/.test(name) || path.posix.isAbsolute(name) || file === '.' || file === '..' || file.startsWith('../'))
    throw new DomainError(
      'component.invalid',
      `file "${name.slice(0, 200)}" lies outside of the component: use relative paths that stay within its folder`,
      { file: name.slice(0, 200) },
    );
  return file;
};

const isBuildFailure = (error: unknown): error is BuildFailure =>
  error instanceof Error && Array.isArray((error as Partial<BuildFailure>).errors);

const MAX_ERRORS = 5;

const invalidComponent = (errors: readonly Message[]): DomainError => {
  const own = errors.map(({ detail }) => detail as unknown).find((detail) => detail instanceof DomainError);
  if (own instanceof DomainError) return own;
  const texts = errors.slice(0, MAX_ERRORS).map(({ text, location }) => {
    if (!location) return text;
    return `${location.file.replace(`${NAMESPACE}:`, '')}:${location.line}:${location.column + 1}: ${text}`;
  });
  const more = errors.length > MAX_ERRORS ? ` (and ${errors.length - MAX_ERRORS} more)` : '';
  const first = errors[0]?.location;
  return new DomainError('component.invalid', `the code cannot be compiled: ${texts.join('; ')}${more}`, {
    name: 'SyntaxError',
    ...(first ? { file: first.file.replace(`${NAMESPACE}:`, ''), line: first.line, column: first.column + 1 } : {}),
  });
};

/** Serves the component's files from memory: nothing of the host's file system can be imported. */
const componentFiles = (files: VirtualFiles, packages: Packages): Plugin => ({
  name: 'component-files',
  setup: (hooks) => {
    hooks.onResolve({ filter: /.*/ }, (args) => {
      if (args.pluginData === RESOLVING) return undefined;
      if (args.kind === 'entry-point') return { path: args.path, namespace: NAMESPACE };
      if (isBuiltin(args.path)) return { path: args.path, external: true };
      // Below a package, or our shim, esbuild resolves as it does.
      if (args.namespace !== NAMESPACE) return undefined;
      const found = resolveOwn(files, args);
      if (found) return found;
      packages.wanted.add(args.path);
      if (packages.packagesIn === undefined) return { path: args.path, external: true };
      const { kind, importer } = args;
      const bare = withoutVersion(args.path);
      return hooks.resolve(bare, { kind, importer, resolveDir: packages.packagesIn, pluginData: RESOLVING });
    });
    hooks.onLoad({ filter: /.*/, namespace: NAMESPACE }, (args) => {
      const contents = files.texts.get(args.path);
      if (contents === undefined) return { errors: [{ text: `file "${args.path}" is missing` }] };
      return { contents, loader: LOADERS[path.posix.extname(args.path)] ?? 'js' };
    });
  },
});

const RESOLVING = Symbol('resolving');

const fail = (error: DomainError): OnResolveResult => ({ errors: [{ text: error.message, detail: error }] });

/** Files of the component and our shims; undefined for a package. */
const resolveOwn = ({ texts }: VirtualFiles, { path: name, importer }: OnResolveArgs): OnResolveResult | undefined => {
  const shim = SHIMS.get(withoutVersion(name));
  if (shim !== undefined) return { path: shimFile(shim), namespace: 'file' };
  if (/^\.{1,2}(\/|$)/.test(name)) return resolveRelative(texts, name, importer);
  if (path.posix.isAbsolute(name) || /^[a-z][a-z0-9+.-]*:/i.test(name))
    return fail(
      new DomainError(
        'component.invalid',
        `"${name.slice(0, 200)}" cannot be imported (in ${importer}): import modules of Node, and files of the component by relative path`,
        { file: importer },
      ),
    );
  return undefined;
};

const resolveRelative = (texts: ReadonlyMap<string, string>, name: string, importer: string): OnResolveResult => {
  let wanted: string;
  try {
    wanted = insideOf(path.posix.dirname(importer), name);
  } catch (error) {
    if (error instanceof DomainError) return fail(error);
    throw error;
  }
  const candidates = ENDINGS.map((ending) => `${wanted}${ending}`);
  // TypeScript names the file that a .ts file becomes.
  if (/\.[mc]?js$/.test(wanted)) candidates.push(wanted.replace(/js$/, 'ts'));
  const found = candidates.find((candidate) => texts.has(candidate));
  if (found !== undefined) return { path: found, namespace: NAMESPACE };
  return fail(
    new DomainError(
      'component.invalid',
      `${importer} imports "${name}", which is not among the component's files: give it in \`files\``,
      { file: importer, missing: wanted },
    ),
  );
};

/** `name@1.2.3/sub` is `name/sub` at that version (decisions.md 2.15). */
const withoutVersion = (specifier: string): string => specifier.replace(/^((?:@[^/@]+\/)?[^/@]+)@[^/]+/, '$1');

/** Compiled beside this file, or its source when this runs from source. */
const shimFile = (name: string): string => {
  const compiled = fileURLToPath(new URL(`./shim/${name}.js`, import.meta.url));
  return existsSync(compiled) ? compiled : compiled.replace(/js$/, 'ts');
};
