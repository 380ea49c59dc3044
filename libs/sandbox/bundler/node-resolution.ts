import { statSync } from 'node:fs';
import path from 'node:path';
import { isFields, lookUp, manifestOf, placeOf, type ManifestFields } from './package-rules.js';

const ENDINGS = ['', '.js', '.json', '.mjs', '.cjs', '.node', '.ts'];

/** Resolves imports within packages like Node, for the esbuild that has no file system. Reads no file outside of `root`. */
export class NodeResolution {
  private readonly manifests = new Map<string, ManifestFields>();

  constructor(private readonly root: string) {}

  /** Path of the file that `name` means in a file of the folder `from`. Undefined when there is none. */
  resolve(name: string, from: string, isRequire: boolean): string | undefined {
    const conditions = new Set(['node', 'default', 'module-sync', isRequire ? 'require' : 'import']);
    const dir = path.relative(this.root, from);
    const found = this.targetOf(name, dir, conditions);
    return found === undefined ? undefined : path.join(this.root, found);
  }

  private targetOf(name: string, dir: string, conditions: ReadonlySet<string>): string | undefined {
    if (/^\.{1,2}(?:\/|$)/.test(name)) return this.fileAt(path.posix.join(dir, name), name.endsWith('/'));
    const place = placeOf(dir);
    if (name.startsWith('#')) return place === undefined ? undefined : this.mapped(place, 'imports', name, conditions);
    const [, packageName = '', sub = ''] = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(name) ?? [];
    const own = place !== undefined && this.manifestOf(place)['name'] === packageName && this.has(place, 'exports');
    const target = own ? place : lookUp(this.root, dir === '' ? '.' : dir, packageName);
    if (target === undefined) return undefined;
    if (this.has(target, 'exports')) return this.mapped(target, 'exports', `.${sub}`, conditions);
    return this.fileAt(path.posix.join(target, sub), true);
  }

  private has(place: string, field: string): boolean {
    return (this.manifestOf(place)[field] ?? null) !== null;
  }

  /** Follows the map `exports` or `imports` of a package. */
  private mapped(place: string, field: string, key: string, conditions: ReadonlySet<string>): string | undefined {
    const map = this.manifestOf(place)[field];
    const entries: ManifestFields =
      isFields(map) && Object.keys(map).some((one) => /^[.#]/.test(one)) ? map : { '.': map };
    const [entry, star] = entryOf(entries, key);
    const target = targetIn(entry, conditions)?.replaceAll('*', star);
    if (target === undefined) return undefined;
    if (!target.startsWith('./')) return field === 'imports' ? this.targetOf(target, place, conditions) : undefined;
    const file = path.posix.join(place, target);
    return file.startsWith(`${place}/`) && this.isFile(file) ? file : undefined;
  }

  private fileAt(wanted: string, folderFirst = false): string | undefined {
    const file = folderFirst ? undefined : ENDINGS.map((ending) => wanted + ending).find((one) => this.isFile(one));
    if (file !== undefined) return file;
    const { main } = this.manifestOf(wanted);
    const mains = typeof main === 'string' ? [path.posix.join(wanted, main)] : [];
    const candidates = [...mains, wanted].flatMap((one) => [
      ...(one === wanted ? [] : ENDINGS.map((ending) => one + ending)),
      ...ENDINGS.map((ending) => `${one}/index${ending}`),
    ]);
    return candidates.find((one) => this.isFile(one)) ?? (folderFirst ? this.fileAt(wanted) : undefined);
  }

  private isFile(file: string): boolean {
    if (file.startsWith('../') || path.posix.isAbsolute(file)) return false;
    try {
      return statSync(path.join(this.root, file)).isFile();
    } catch {
      // Not there, or below a file (ENOTDIR), which throwIfNoEntry does not cover.
      return false;
    }
  }

  private manifestOf(folder: string): ManifestFields {
    const fields = this.manifests.get(folder) ?? manifestOf(path.join(this.root, folder));
    this.manifests.set(folder, fields);
    return fields;
  }
}

/** Entry for a key, and what its `*` stands for. The longest pattern wins. */
const entryOf = (entries: ManifestFields, key: string): readonly [entry: unknown, star: string] => {
  if (Object.hasOwn(entries, key)) return [entries[key], ''];
  const patterns = Object.keys(entries)
    .filter((pattern) => pattern.includes('*'))
    .sort((a, b) => b.indexOf('*') - a.indexOf('*'));
  for (const pattern of patterns) {
    const [before = '', after = ''] = pattern.split('*');
    if (key.length < before.length + after.length || !key.startsWith(before) || !key.endsWith(after)) continue;
    return [entries[pattern], key.slice(before.length, key.length - after.length)];
  }
  return [undefined, ''];
};

/** The first target whose conditions hold. */
const targetIn = (entry: unknown, conditions: ReadonlySet<string>): string | undefined => {
  if (typeof entry === 'string') return entry;
  const options = Array.isArray(entry)
    ? (entry as unknown[])
    : isFields(entry)
      ? Object.entries(entry).flatMap(([condition, target]) => (conditions.has(condition) ? [target] : []))
      : [];
  for (const option of options) {
    const target = targetIn(option, conditions);
    if (target !== undefined) return target;
  }
  return undefined;
};
