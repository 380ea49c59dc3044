import { type ComponentPackages, type PackageChanges, type PackageLock } from '#libs/component-model/package-lock.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type FetchedComponent } from '../ports.js';
import { type ComponentSaved, type ImportedPackage, type SavedPackages } from '../published.js';

/** Data beside the code from which it can be built again. */
type CodeParts = Pick<FetchedComponent, 'fileName' | 'files'>;

type Saved = Pick<ComponentSaved['data'], 'packages'>;

export const NO_CHANGES: PackageChanges = { added: [], removed: [], changed: [] };

/** Puts lock and parts among the blobs of the component. */
export const savedPackagesOf = async (
  blobs: Pick<BlobStore, 'put'>,
  { lock, externals, hasMachineCode, bytes, cached, ms }: ComponentPackages,
  { fileName, files }: CodeParts,
): Promise<SavedPackages> => {
  const parts: CodeParts = { fileName, ...(files ? { files } : {}) };
  const [lockHash, partsHash] = await Promise.all([blobs.put(JSON.stringify(lock)), blobs.put(JSON.stringify(parts))]);
  const count = lock.packages.length;
  const beside = externals.length === 0 ? {} : { beside: { hasMachineCode } };
  const uses = [...new Set(lock.packages.map(({ name, version }) => `${name}@${version}`))].sort();
  return { lockHash, partsHash, count, bytes, ms, cached, uses, imported: importedBy(lock), ...beside };
};

const MOST_IMPORTED = 100;

const importedBy = ({ specifiers, packages }: PackageLock): readonly ImportedPackage[] => {
  const places = new Set(Object.values(specifiers));
  return packages
    .filter(({ place }) => places.has(place))
    .slice(0, MOST_IMPORTED)
    .map(({ name, version, licence }) => ({ name, version, ...(licence === undefined ? {} : { licence }) }));
};

/** Undefined for a component without packages. */
export const lockOf = (blobs: Pick<BlobStore, 'get'>, { packages }: Saved): Promise<PackageLock | undefined> =>
  readJson<PackageLock>(blobs, packages?.lockHash);

export const partsOf = (blobs: Pick<BlobStore, 'get'>, { packages }: Saved): Promise<CodeParts | undefined> =>
  readJson<CodeParts>(blobs, packages?.partsHash);

const readJson = async <T>(blobs: Pick<BlobStore, 'get'>, hash: string | undefined): Promise<T | undefined> => {
  if (hash === undefined) return undefined;
  const text = await blobs.get(hash);
  if (text === undefined) throw new Error(`${hash} is not in the blob store`);
  return JSON.parse(text) as T;
};

/** Compares two locks place by place. */
export const changesOf = (before: PackageLock | undefined, after: PackageLock | undefined): PackageChanges => {
  const old = new Map(before?.packages.map((one) => [one.place, one]));
  const now = new Map(after?.packages.map((one) => [one.place, one]));
  const only = (one: typeof old, other: typeof old) =>
    [...one.values()].flatMap(({ place, name, version }) => (other.has(place) ? [] : [{ name, version }]));
  const changed = [...now.values()].flatMap(({ place, name, version }) => {
    const from = old.get(place);
    return from && from.version !== version ? [{ name, from: from.version, to: version }] : [];
  });
  return { added: only(now, old), removed: only(old, now), changed };
};
