/**
 * Decides which packages stay beside a bundle (docs/reference/component-model.md#packages-beside). Runs in the build
 * jail, on files of packages, which are hostile input.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { type Message } from 'esbuild';

const PLACE = /^node_modules\/(?:@[^/]+\/)?[^/]+(?:\/node_modules\/(?:@[^/]+\/)?[^/]+)*(?=\/|$)/;
/**
 * Place of the package that a file belongs to, by the file's path below the folder. Undefined outside of packages. A
 * folder `node_modules` deeper in a package, such as one that its own build made, is part of that package.
 */
export const placeOf = (file: string): string | undefined => PLACE.exec(file)?.[0];

/** Folder that a package is looked up from, and its name there. */
export const lookupOf = (place: string): { readonly from: string; readonly name: string } => {
  const at = place.lastIndexOf('node_modules/');
  return { from: place.slice(0, at), name: place.slice(at + 'node_modules/'.length) };
};

/** Files that a bundle can contain. */
export const CAN_BUNDLE: ReadonlySet<string> = new Set([
  '.js',
  '.mjs',
  '.cjs',
  '.json',
  '.ts',
  '.mts',
  '.cts',
  '.jsx',
  '.tsx',
]);

/** Code that uses its own path on disk probably reads files beside it. */
const ASKS_FOR_PLACE = /\b__dirname\b|\b__filename\b|\bimport\.meta\.(?:url|dirname|filename|resolve)\b/;
export const asksForPlace = (code: string): boolean => ASKS_FOR_PLACE.test(code);

/** Imports by a computed name. By default, esbuild reports them nowhere when they are within a package. */
const COMPUTED = ['unsupported-require-call', 'unsupported-dynamic-import', 'indirect-require'] as const;
export const packageLogs = Object.fromEntries(COMPUTED.map((id) => [id, 'warning' as const]));
export const isComputed = ({ id }: Message): boolean => COMPUTED.some((known) => known === id);

/** Limit of files looked at in one package. */
const MAX_FILES = 20_000;

/** Code of a package beyond which it stays beside the bundle, because a build could take longer than it may. */
const LARGE_BYTES = 8 * 1024 * 1024;

export interface PackageContent {
  /** The package has machine code, or builds some. */
  readonly hasMachineCode: boolean;
  readonly isLarge: boolean;
}

export const contentOf = (folder: string): PackageContent => {
  let hasMachineCode = existsSync(path.join(folder, 'binding.gyp'));
  let bytes = 0;
  let seen = 0;
  const folders = [folder];
  for (const dir of folders) {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      if (++seen > MAX_FILES) return { hasMachineCode, isLarge: true };
      if (entry.isDirectory() && !(dir === folder && entry.name === 'node_modules'))
        folders.push(path.join(dir, entry.name));
      if (!entry.isFile()) continue;
      hasMachineCode ||= entry.name.endsWith('.node');
      if (CAN_BUNDLE.has(path.extname(entry.name))) bytes += statSync(path.join(dir, entry.name)).size;
    }
  }
  return { hasMachineCode, isLarge: bytes > LARGE_BYTES };
};

export type ManifestFields = Readonly<Record<string, unknown>>;

/** Fields of a folder's package.json. A folder without a readable one has none. */
export const manifestOf = (folder: string): ManifestFields => {
  try {
    const parsed: unknown = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    return isFields(parsed) ? parsed : {};
  } catch {
    // Not there, or no JSON.
    return {};
  }
};

export const isFields = (value: unknown): value is ManifestFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Places of packages with everything that they depend on. A dependency that is not installed is left out. */
export const closureOf = (root: string, places: Iterable<string>): readonly string[] => {
  const found = new Set(places);
  for (const place of found) {
    for (const name of dependenciesOf(path.join(root, place))) {
      const at = lookUp(root, place, name);
      if (at !== undefined) found.add(at);
    }
  }
  return [...found];
};

const dependenciesOf = (folder: string): readonly string[] => {
  const manifest = manifestOf(folder);
  const of = (field: string): string[] => Object.keys(Object(manifest[field]) as object);
  return [...of('dependencies'), ...of('optionalDependencies'), ...of('peerDependencies')];
};

/** Looks a package up like Node: in every node_modules from the place up to the root. */
export const lookUp = (root: string, place: string, name: string): string | undefined => {
  if (!/^(?:@[^/]+\/)?[^/]+$/.test(name) || name.startsWith('.')) return undefined;
  for (let dir = place; ; dir = path.posix.dirname(dir)) {
    const at = path.posix.join(dir === '.' ? '' : dir, 'node_modules', name);
    if (existsSync(path.join(root, at))) return at;
    if (dir === '.' || dir === '') return undefined;
  }
};
