import { isBuiltin } from 'node:module';
import path from 'node:path';
import { type BuildFailure, type BuildOptions, type BuildResult, type Message, type Plugin } from 'esbuild';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type BuildReply, type MountedPackages, type Problem } from './build-message.js';
import { quoted, type ComponentFiles } from './component-files.js';
import { isConstantAssignment, withThrowingTargets } from './constant-assignments.js';
import { CREATED, createdRequiresIn, isModuleModule, moduleCode, type CreatedRequires } from './created-require.js';
import { innerShim, resolveImport } from './imports.js';
import { PackageFiles, packageLogs, pathOfInput, RESOLVING } from './package-files.js';
import { boundedMap, withoutOwnMap } from './source-map.js';
import { COMPONENT, SHIM, withSourceMap } from '../protocol/source-map.js';
import { ES_MODULE } from '../protocol/es-module.js';

/** Interface of esbuild, native or as WebAssembly. */
export interface Compiler {
  build(options: BuildOptions): Promise<BuildResult>;
}

export interface CompileRequest {
  readonly files: ComponentFiles;
  /** Null on the first pass, which only collects the names of packages. */
  readonly packages: MountedPackages | null;
  /** True when files of packages are read here, because esbuild has no file system. */
  readonly readsFiles?: boolean;
  /** Code of each shim module, by name. */
  readonly shims: Readonly<Record<string, string>>;
  /**
   * Refuse an import by a pattern with a text that explains what to write. esbuild resolves such imports by reading
   * folders, without asking a plugin, so only the jail keeps them from the host's files. Tests of the jail disable this.
   */
  readonly refusePatterns: boolean;
  /** True when assignments to constants have been replaced. */
  readonly isReplaced?: true;
  /** Size limit of the bundle. A source map that does not fit is left out. */
  readonly bundleBytes: number;
}

/** Namespaces of esbuild are COMPONENT and SHIM. It reads all other files from a file system. */
export const PACKAGE = 'package';
/** Metafile `input` names of the component's files, of packages and of shims. */
export const componentInput = (file: string): string => `${COMPONENT}:${file}`;
const packageInput = (file: string): string => `${PACKAGE}:${file}`;
export const shimInput = (name: string): string => `${SHIM}:${name}`;

const LOADERS: Readonly<Record<string, 'ts' | 'json' | 'text'>> = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.json': 'json',
  '.txt': 'text',
  '.md': 'text',
};
/** Characters of all files beyond which there is no source map, because making it could exceed the limits of a build. */
const MAX_MAPPED_CHARS = 8 * 1024 * 1024;

/**
 * Bundles a component and all its imports into one CommonJS file, or an ES module when its code awaits at the top. Runs
 * in the build jail. esbuild parses the component but does not evaluate it. Rejects when esbuild itself ends.
 */
export const compile = async (
  compiler: Compiler,
  request: CompileRequest,
  format: 'cjs' | 'esm' = 'cjs',
): Promise<BuildReply> => {
  const beside = new Set<string>();
  const created = await createdRequiresIn(compiler, request.files);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const known = beside.size;
    const reply = await compileOnce(compiler, request, format, beside, created);
    if (beside.size === known) return reply;
  }
  return { kind: 'invalid', problems: [TOO_ENTANGLED], count: 1 };
};

/** Rounds in which more packages are found that have to stay beside the bundle. */
const MAX_ROUNDS = 10;
const TOO_ENTANGLED: Problem = {
  text: 'its npm packages depend on each other in too many ways to tell which can be bundled: import fewer packages',
  file: null,
  line: 0,
  column: 0,
};

/** Compiles with the packages at the places `beside` left out. Adds the places of others that cannot be bundled. */
const compileOnce = async (
  compiler: Compiler,
  request: CompileRequest,
  format: 'cjs' | 'esm',
  beside: Set<string>,
  created: CreatedRequires | null,
): Promise<BuildReply> => {
  const wanted = new Set<string>();
  const packages = request.packages && new PackageFiles(request.packages, beside, request.readsFiles === true);
  const chars = [...request.files.texts.values()].reduce((sum, text) => sum + text.length, 0);
  let result: BuildResult;
  try {
    result = await compiler.build({
      entryPoints: [request.files.entry],
      plugins: [componentFiles(request, { wanted, packages, created }), ...(packages ? [packages.plugin()] : [])],
      bundle: true,
      write: false,
      metafile: true,
      platform: 'node',
      format,
      ...(format === 'esm' ? { banner: { js: ES_MODULE.trimEnd() } } : {}),
      target: 'node20',
      keepNames: true,
      charset: 'utf8',
      logLevel: 'silent',
      logOverride: packageLogs,
      preserveSymlinks: true,
      absWorkingDir: '/',
      tsconfigRaw: '{}',
      // esbuild wants a name for a map beside the code. Nothing is written.
      outfile: '/component.js',
      sourcemap: chars <= MAX_MAPPED_CHARS ? 'external' : false,
      sourcesContent: false,
      define: { 'import.meta.url': '"file:///tmp/component.js"' },
    });
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    const missing = packages?.missingIn(error.errors) ?? [];
    if (missing.length > 0) return { kind: 'wanted', packages: missing };
    if (format === 'cjs' && error.errors.some(({ text }) => text.startsWith('Top-level await')))
      return compile(compiler, request, 'esm');
    // Files beside the bundle are Node's to read. The next round leaves the package out.
    if (packages?.learnAssignments(error.errors.filter(isConstantAssignment)))
      return failed(error.errors, request.refusePatterns);
    return (
      (await withoutAssignments(compiler, request, format, error.errors)) ??
      failed(error.errors, request.refusePatterns)
    );
  }
  const pattern = request.refusePatterns ? (patternIn(result.warnings) ?? patternMatched(result, request)) : undefined;
  if (pattern) return pattern;
  packages?.learn(result.warnings);
  if (wanted.size > 0 && packages === null) return { kind: 'wanted', packages: [...wanted].sort() };
  return {
    kind: 'bundle',
    bundle: bundleOf(result, request.bundleBytes),
    inputs: Object.keys(result.metafile?.inputs ?? {}).map((input) => inputName(input, request)),
    externals: [...beside].sort(),
    assignments: [],
    native: packages?.nativePlace() ?? null,
  };
};

/** Compiles again where the only errors are assignments to constants. Undefined where that does not help. */
const withoutAssignments = async (
  compiler: Compiler,
  request: CompileRequest,
  format: 'cjs' | 'esm',
  errors: readonly Message[],
): Promise<BuildReply | undefined> => {
  const texts = request.isReplaced === true ? undefined : withThrowingTargets(request.files.texts, errors);
  if (texts === undefined) return undefined;
  const files = { ...request.files, texts };
  const reply = await compile(compiler, { ...request, files, isReplaced: true }, format);
  if (reply.kind === 'invalid') return undefined;
  return reply.kind === 'bundle' ? { ...reply, assignments: errors.slice(0, MAX_PROBLEMS).map(problemOf) } : reply;
};

/** Code with its map. Every bundle ends with a map, so that no comment of the component can be taken for one. */
const bundleOf = ({ outputFiles = [] }: BuildResult, bundleBytes: number): Buffer => {
  const code = outputFiles.find(({ path: name }) => name.endsWith('.js'))?.contents ?? new Uint8Array(0);
  const map = outputFiles.find(({ path: name }) => name.endsWith('.map'))?.text;
  const bundle = withSourceMap(code, (map === undefined ? undefined : boundedMap(map)) ?? '{}');
  return bundle.length <= bundleBytes ? bundle : Buffer.from(code);
};

/** Renames a package's file to its path below the packages' folder. Other files keep esbuild's name. */
const inputName = (input: string, { packages }: CompileRequest): string =>
  packages !== null && pathOfInput(input).startsWith(`${packages.folder}/`)
    ? packageInput(pathOfInput(input).slice(packages.folder.length + 1))
    : input;

const isBuildFailure = (error: unknown): error is BuildFailure =>
  error instanceof Error && Array.isArray((error as Partial<BuildFailure>).errors);

const MAX_PROBLEMS = 5;
const MAX_PROBLEM_TEXT = 2_000;

const failed = (errors: readonly Message[], refusePatterns: boolean): BuildReply => {
  const own = errors.map(({ detail }) => detail as unknown).find((detail) => detail instanceof DomainError);
  if (own instanceof DomainError) return refusedBy(own);
  const pattern = refusePatterns ? patternIn(errors) : undefined;
  if (pattern) return pattern;
  return { kind: 'invalid', problems: errors.slice(0, MAX_PROBLEMS).map(problemOf), count: errors.length };
};

const refusedBy = ({ message, details }: DomainError): BuildReply => {
  const { file, missing } = details ?? {};
  return {
    kind: 'refused',
    message: message.slice(0, MAX_PROBLEM_TEXT),
    file: typeof file === 'string' ? quoted(file) : null,
    missing: typeof missing === 'string' ? quoted(missing) : null,
  };
};

/** esbuild's `"component:load.mjs"`, where the part before the colon is a namespace of this file. */
const NAMESPACED = /"(?:component|shim|package-file):(?=[^"]*")/g;

const problemOf = ({ text, location }: Message): Problem => ({
  text: text.slice(0, MAX_PROBLEM_TEXT).replace(NAMESPACED, '"'),
  file: location ? quoted(location.file.replace(`${COMPONENT}:`, '')) : null,
  line: location?.line ?? 0,
  column: location ? location.column + 1 : 0,
});

/** Message of esbuild for a pattern whose folder is missing or contains no matching file. */
const PATTERN = /^(?:Could not resolve|The glob pattern) ((?:import|require)\(")/;

const patternIn = (messages: readonly Message[]): BuildReply | undefined => {
  const met = messages.find(({ text, location }) => PATTERN.test(text) && location?.file.startsWith(`${COMPONENT}:`));
  if (!met) return undefined;
  const { file, line, column } = problemOf(met);
  const call = PATTERN.exec(met.text)?.[1] === 'require("' ? 'require' : 'import';
  return {
    kind: 'refused',
    message: patternRefused(`${file ?? ''}:${line}:${column}: ${call}()`),
    file,
    missing: null,
  };
};

/** Refuses a pattern that matched files. They are not the component's, whose files are in no file system. */
const patternMatched = ({ metafile }: BuildResult, { packages }: CompileRequest): BuildReply | undefined => {
  // Imports of packages are not checked.
  if (packages !== null) return undefined;
  const own = Object.entries(metafile?.inputs ?? {}).filter(([input]) => input.startsWith(`${COMPONENT}:`));
  const importer = own.find(([, { imports }]) =>
    imports.some(({ path: to, external }) => external !== true && !/^(component|shim|created-require):/.test(to)),
  )?.[0];
  if (importer === undefined) return undefined;
  const file = quoted(importer.replace(`${COMPONENT}:`, ''));
  return { kind: 'refused', message: patternRefused(`${file}: import() or require()`), file, missing: null };
};

export const patternRefused = (where: string): string =>
  `${where} builds the path of a file from parts, which cannot be bundled: import each file of the component by its whole path, such as import('./part.mjs'), and choose among what was imported`;

interface PluginState {
  readonly wanted: Set<string>;
  readonly packages: PackageFiles | null;
  readonly created: CreatedRequires | null;
}

/** Serves the component's files and the shims from memory. */
const componentFiles = (request: CompileRequest, { wanted, packages, created }: PluginState): Plugin => ({
  name: 'component-files',
  setup: (hooks) => {
    hooks.onResolve({ filter: /.*/ }, (args) => {
      if (args.pluginData === RESOLVING) return undefined;
      if (args.kind === 'entry-point') return { path: args.path, namespace: COMPONENT };
      if (created !== null && args.namespace === COMPONENT && isModuleModule(args.path))
        return { path: CREATED, namespace: CREATED };
      if (isBuiltin(args.path)) return { path: args.path, external: true };
      const inner = args.namespace === SHIM ? innerShim(args.path) : undefined;
      if (inner !== undefined) return { path: inner, namespace: SHIM };
      // Within a package, esbuild resolves by its own rules.
      if (args.namespace !== COMPONENT && args.namespace !== CREATED) return undefined;
      const importer = args.namespace === CREATED ? created?.importers.get(args.path) : args.importer;
      const resolved = resolveImport(request.files, args.path, importer ?? request.files.entry);
      switch (resolved.kind) {
        case 'file':
          return { path: resolved.path, namespace: COMPONENT };
        case 'shim':
          return { path: resolved.name, namespace: SHIM };
        case 'refused':
          return { errors: [{ text: resolved.error.message, detail: resolved.error }] };
        case 'package': {
          wanted.add(resolved.specifier);
          if (packages === null) return { path: args.path, external: true };
          return packages.resolveSpecifier(hooks, resolved.specifier, args, importer ?? request.files.entry);
        }
      }
    });
    hooks.onLoad({ filter: /.*/, namespace: COMPONENT }, (args) => {
      const contents = request.files.texts.get(args.path);
      if (contents === undefined) return { errors: [{ text: `file "${args.path}" is missing` }] };
      const loader = LOADERS[path.posix.extname(args.path)] ?? 'js';
      return { contents: loader === 'json' || loader === 'text' ? contents : withoutOwnMap(contents), loader };
    });
    hooks.onLoad({ filter: /.*/, namespace: CREATED }, () => ({
      contents: created === null ? '' : moduleCode(created, Object.keys(request.packages?.specifiers ?? {})),
    }));
    hooks.onLoad({ filter: /.*/, namespace: SHIM }, (args) => ({ contents: request.shims[args.path] ?? '' }));
  },
});
