import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  type ImportKind,
  type Loader,
  type Message,
  type OnResolveArgs,
  type OnResolveResult,
  type Plugin,
  type PluginBuild,
} from 'esbuild';
import { DomainError } from '#libs/kernel/domain-error.js';
import { BESIDE, BESIDE_SCHEME } from '../protocol/packages.js';
import { SHIM } from '../protocol/source-map.js';
import { type MountedPackages } from './build-message.js';
import { quoted } from './component-files.js';
import { shimOf, subPathOf } from './imports.js';
import {
  asksForPlace,
  CAN_BUNDLE,
  closureOf,
  contentOf,
  type PackageContent,
  isComputed,
  lookupOf,
  manifestOf,
  packageLogs,
  placeOf,
} from './package-rules.js';
import { NodeResolution } from './node-resolution.js';
import { withoutOwnMap } from './source-map.js';

export { packageLogs };
/** Marks a question to esbuild's own resolver. */
export const RESOLVING = Symbol('resolving');
const LOADERS: Readonly<Record<string, Loader>> = {
  '.json': 'json',
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.jsx': 'jsx',
  '.tsx': 'tsx',
};
/** An ES module beside the bundle keeps its default export. */
const ES_BESIDE = `${BESIDE}-es`;
/** Suffix of a stand-in's path, because esbuild would treat the ending .mjs as an ES module. */
const MARK = '#';
/**
 * Files that are read here. They have no folder for esbuild, which would otherwise look for missing files in a file
 * system that it does not have, and fail even for a `require` in a `try`.
 */
const READ = 'package-file';
/** Path of an input or of a message's file, which esbuild writes below `/` or with its namespace. */
export const pathOfInput = (input: string): string =>
  input.startsWith(`${READ}:`) ? input.slice(READ.length + 1) : `/${input}`;

const MISSING = /^Could not resolve "([^"]+)"/;

interface Asked {
  readonly path: string;
  readonly kind: ImportKind;
  readonly importer: string;
  readonly resolveDir: string;
}

/** Serves the files of packages to esbuild, and leaves packages out that must stay beside the bundle. */
export class PackageFiles {
  private readonly contents = new Map<string, PackageContent>();
  private readonly own: NodeResolution | undefined;
  private readonly namespace: 'file' | typeof READ;

  /** @param beside places of packages that are left out; more are added while files are read */
  constructor(
    private readonly mounted: MountedPackages,
    private readonly beside: Set<string>,
    readsFiles: boolean,
  ) {
    this.own = readsFiles ? new NodeResolution(mounted.folder) : undefined;
    this.namespace = readsFiles ? READ : 'file';
  }

  plugin(): Plugin {
    return {
      name: 'package-files',
      setup: (hooks) => {
        hooks.onResolve({ filter: /.*/ }, (args) => this.resolve(hooks, args));
        hooks.onLoad({ filter: /.*/, namespace: this.namespace }, ({ path: file }) => this.load(file));
        const external = (file: string): string => JSON.stringify(BESIDE_SCHEME + file.slice(0, -MARK.length));
        hooks.onLoad({ filter: /.*/, namespace: BESIDE }, ({ path: file }) => ({
          contents: `module.exports = require(${external(file)})`,
        }));
        hooks.onLoad({ filter: /.*/, namespace: ES_BESIDE }, ({ path: file }) => ({
          contents: `export * from ${external(file)}; export { default } from ${external(file)};`,
        }));
      },
    };
  }

  /** Resolves an import in a file of the component. The error of a refusal has a DomainError as its `detail`. */
  async resolveSpecifier(
    hooks: PluginBuild,
    specifier: string,
    args: OnResolveArgs,
    file: string,
  ): Promise<OnResolveResult> {
    const found = await this.atPlace(hooks, specifier, args);
    if (found) return found;
    const text = `${file} imports "${quoted(specifier)}", but ${this.whatIsMissing(specifier)}`;
    return { errors: [{ text, detail: new DomainError('component.invalid', text, { file }) }] };
  }

  private whatIsMissing(specifier: string): string {
    const place = this.mounted.specifiers[specifier];
    if (place === undefined) return 'this package was not installed';
    const { name } = lookupOf(place);
    const { version } = manifestOf(path.join(this.mounted.folder, place));
    const named = `the npm package ${name}${typeof version === 'string' ? `@${quoted(version)}` : ''}`;
    const file = subPathOf(specifier).slice(1);
    return file === ''
      ? `${named} has no main file: import one of its files by its path, such as "${name}/lib/part.js"`
      : `${named} has no file "${quoted(file)}" that can be imported: import "${name}", or a file that it has and exports`;
  }

  /** Names of packages that packages import without declaring them. */
  missingIn(errors: readonly Message[]): readonly string[] {
    const names = errors.flatMap(({ text, location }) => {
      const name = MISSING.exec(text)?.[1];
      const inPackage = location !== null && this.placeIn(pathOfInput(location.file)) !== undefined;
      return name !== undefined && inPackage && /^(?:@[\w.~-]+\/)?[\w~-][\w.~-]*(?:\/|$)/.test(name) ? [name] : [];
    });
    return [...new Set(names)].filter((name) => !Object.hasOwn(this.mounted.specifiers, name)).sort();
  }

  learn(warnings: readonly Message[]): void {
    for (const warning of warnings) {
      const place = warning.location ? this.placeIn(pathOfInput(warning.location.file)) : undefined;
      if (place !== undefined && isComputed(warning)) this.beside.add(place);
    }
  }

  /** Leaves the packages of these messages out. Returns whether one was not left out before. */
  learnAssignments(messages: readonly Message[]): boolean {
    const known = this.beside.size;
    for (const { location } of messages) {
      const place = location ? this.placeIn(pathOfInput(location.file)) : undefined;
      if (place !== undefined) this.beside.add(place);
    }
    return this.beside.size > known;
  }

  /** Place with machine code that the bundle needs, or null. */
  nativePlace(): string | null {
    const { folder } = this.mounted;
    return closureOf(folder, this.beside).find((place) => this.contentOf(place).hasMachineCode) ?? null;
  }

  private async resolve(hooks: PluginBuild, args: OnResolveArgs): Promise<OnResolveResult | undefined> {
    if (args.pluginData === RESOLVING) return undefined;
    const name = args.path.startsWith(BESIDE_SCHEME) ? args.path.slice(BESIDE_SCHEME.length) : undefined;
    if (args.namespace === ES_BESIDE) return { path: (name ?? '') + MARK, namespace: BESIDE };
    if (args.namespace === BESIDE) return { path: args.path, external: true };
    if (args.namespace !== this.namespace) return undefined;
    const shim = shimOf(args.path);
    if (shim !== undefined) return { path: shim, namespace: SHIM };
    const found = await this.find(hooks, this.own ? { ...args, resolveDir: path.dirname(args.importer) } : args);
    const result = found === undefined ? await this.atPlace(hooks, args.path, args) : this.targetOf(found);
    // esbuild then resolves the import itself, because it knows whether the file is an ES module and reports a missing
    // file.
    return found !== undefined && result?.namespace === 'file' ? undefined : result;
  }

  /** Resolves a specifier of the lock from the place of its package. */
  private async atPlace(hooks: PluginBuild, specifier: string, args: Asked): Promise<OnResolveResult | undefined> {
    const { folder, specifiers } = this.mounted;
    const place = Object.hasOwn(specifiers, specifier) ? specifiers[specifier] : undefined;
    if (place === undefined) return undefined;
    const { from, name } = lookupOf(place);
    const found = await this.find(hooks, {
      path: name + subPathOf(specifier),
      kind: args.kind,
      importer: args.importer,
      resolveDir: path.join(folder, from),
    });
    return found === undefined ? undefined : this.targetOf(found);
  }

  private async find(
    hooks: PluginBuild,
    { path: name, kind, importer, resolveDir }: Asked,
  ): Promise<string | undefined> {
    if (this.own) return this.own.resolve(name, resolveDir, kind === 'require-call' || kind === 'require-resolve');
    const found = await hooks.resolve(name, { kind, importer, resolveDir, pluginData: RESOLVING });
    return found.errors.length === 0 && found.namespace === 'file' && !found.external ? found.path : undefined;
  }

  private targetOf(file: string): OnResolveResult {
    const place = this.placeIn(file);
    if (place === undefined) return { errors: [{ text: `"${file}" is no file of a package` }] };
    const { hasMachineCode, isLarge } = this.contentOf(place);
    if (!CAN_BUNDLE.has(path.extname(file)) || hasMachineCode || isLarge) this.beside.add(place);
    if (!this.beside.has(place)) return { path: file, namespace: this.namespace };
    const isEs = /\.m[jt]s$/.test(file) || (/\.[jt]s$/.test(file) && this.isEsPackage(place));
    return { path: file.slice(this.mounted.folder.length + 1) + MARK, namespace: isEs ? ES_BESIDE : BESIDE };
  }

  private isEsPackage(place: string): boolean {
    return manifestOf(path.join(this.mounted.folder, place))['type'] === 'module';
  }

  private load(file: string): { contents: string; loader: Loader; resolveDir?: string } | undefined {
    const place = this.placeIn(file);
    if (place === undefined) return undefined;
    const text = readFileSync(file, 'utf8');
    const loader = LOADERS[path.extname(file)] ?? 'js';
    if (loader !== 'json' && asksForPlace(text)) this.beside.add(place);
    const contents = loader === 'json' ? text : withoutOwnMap(text);
    return this.own ? { contents, loader } : { contents, loader, resolveDir: path.dirname(file) };
  }

  private contentOf(place: string): PackageContent {
    const known = this.contents.get(place) ?? contentOf(path.join(this.mounted.folder, place));
    this.contents.set(place, known);
    return known;
  }

  private placeIn(file: string): string | undefined {
    const { folder } = this.mounted;
    return file.startsWith(`${folder}/`) ? placeOf(file.slice(folder.length + 1)) : undefined;
  }
}
