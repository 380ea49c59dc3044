import { type LockedPackage, type PackageLock } from '#libs/component-model/package-lock.js';
import { type Root } from './fetcher/message.js';
import { isPackageName, parseSpecifier } from './specifier.js';
import { unavailable } from './refusals.js';

export interface Wanted {
  readonly roots: readonly Root[];
  /** Alias of the root by specifier. */
  readonly aliases: ReadonlyMap<string, string>;
}

const MAX_SPECIFIERS = 500;

/**
 * Groups specifiers by package and range. The first group of a name, which is the one without a range if there is one,
 * gets the name at the root. Further ones get another name there, so that one code may have several versions.
 */
export const wantedBy = (specifiers: readonly string[]): Wanted => {
  if (specifiers.length > MAX_SPECIFIERS)
    throw unavailable(`the component imports ${specifiers.length} npm packages, the limit is ${MAX_SPECIFIERS}`, '');
  const parsed = specifiers.map((specifier) => {
    const read = parseSpecifier(specifier);
    if (!read)
      throw unavailable(
        `"${specifier.slice(0, 214)}" names no npm package: write name, name@version, name@^version or name@~version, with a path after it if need be`,
        specifier.slice(0, 214),
      );
    return { specifier, ...read };
  });
  const groups = new Map<string, { name: string; range: string; specifiers: string[] }>();
  for (const { specifier, name, range } of parsed.sort((a, b) =>
    a.range < b.range ? -1 : a.range > b.range ? 1 : 0,
  )) {
    const key = `${name}@${range}`;
    const group = groups.get(key) ?? { name, range, specifiers: [] };
    group.specifiers.push(specifier);
    groups.set(key, group);
  }
  const taken = new Set(parsed.map(({ name }) => name));
  const used = new Set<string>();
  const roots: Root[] = [];
  const aliases = new Map<string, string>();
  for (const { name, range, specifiers: written } of groups.values()) {
    let alias = name;
    for (let n = 2; used.has(alias) || (alias !== name && taken.has(alias)); n++) alias = `${name}--${n}`;
    if (!isPackageName(alias)) throw unavailable(`the name of the npm package "${name}" is too long`, name);
    used.add(alias);
    roots.push({ alias, name, range });
    for (const specifier of written) aliases.set(specifier, alias);
  }
  return { roots, aliases };
};

/** Makes the lock of the resolved packages. A second root with the same version as the first is left out. */
export const lockOf = ({ roots, aliases }: Wanted, packages: readonly LockedPackage[]): PackageLock => {
  const byPlace = new Map(packages.map((one) => [one.place, one]));
  const places = new Map<string, string>();
  const left = new Set<string>();
  for (const { alias, name } of roots) {
    const place = `node_modules/${alias}`;
    const plain = `node_modules/${name}`;
    const same = alias !== name && byPlace.get(place)?.version === byPlace.get(plain)?.version;
    places.set(alias, same ? plain : place);
    if (same) left.add(place);
  }
  const kept = packages.filter(
    ({ place }) => ![...left].some((each) => place === each || place.startsWith(`${each}/`)),
  );
  const known = new Set(kept.map(({ place }) => place));
  const specifiers: Record<string, string> = {};
  for (const [specifier, alias] of [...aliases].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const place = places.get(alias) ?? '';
    if (!known.has(place)) throw unavailable(`the npm package of "${specifier}" was not resolved`, specifier);
    specifiers[specifier] = place;
  }
  return { specifiers, packages: kept };
};

/** Whether a lock has a package for each of these specifiers. */
export const covers = (lock: PackageLock, specifiers: readonly string[]): boolean =>
  specifiers.every((specifier) => Object.hasOwn(lock.specifiers, specifier));
