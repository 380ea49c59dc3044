import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import Arborist from '@npmcli/arborist';
import semver from 'semver';
import { type LockedPackage } from '#libs/component-model/package-lock.js';
import { type Warning } from '#libs/kernel/warning.js';
import { DenyList } from '../deny-list.js';
import {
  INTEGRITY,
  isPlace,
  lockedPackageOf,
  MAX_WARNINGS,
  type ResolveOrder,
  type Resolution,
  type Root,
} from './message.js';
import { NO_REGISTRY, Packuments, type Packument } from './packuments.js';
import { runsOn, thisPlatform, type Platform } from './platform.js';
import { denied } from './refusal-texts.js';
import { Refusal, type RegistryClient } from './registry-client.js';

/** The parts of npm's tree that are read here. Its types are older than the library. */
interface TreeEdge {
  readonly name: string;
  readonly spec: string;
  readonly type: string;
  readonly from: TreeNode;
  readonly to: TreeNode | null;
}

interface TreeNode {
  readonly name: string;
  readonly packageName: string;
  readonly version: string;
  readonly location: string;
  readonly resolved?: string | null;
  readonly integrity?: string | null;
  readonly isRoot: boolean;
  readonly inert?: boolean;
  readonly errors: readonly unknown[];
  readonly package: { readonly os?: string[]; readonly cpu?: string[]; readonly libc?: string[] };
  readonly edgesOut: ReadonlyMap<string, TreeEdge>;
  readonly edgesIn: ReadonlySet<TreeEdge>;
}

interface ResolverError {
  readonly code?: string;
  readonly message?: string;
  readonly name?: string;
  readonly wanted?: string;
  readonly requiredBy?: string;
  readonly package?: string;
  readonly edge?: { readonly name?: string; readonly spec?: string; readonly from?: { readonly name?: string } };
}

const NOT_OF_A_REGISTRY = /^EALLOW(?:GIT|REMOTE|FILE|DIRECTORY)$/;
const platform: Platform = thisPlatform();

/** Chooses a version of each wanted package and of everything that they need, as npm does. Downloads no tarball. */
export const resolve = async (
  order: ResolveOrder,
  client: RegistryClient,
  folder: string,
  signal: AbortSignal,
): Promise<Resolution> => {
  const now = Date.now();
  const policy = {
    minAgeMs: order.minAgeMs,
    deny: new DenyList(order.deny),
    closedScopes: new Set(order.closedScopes),
    now,
  };
  const packuments = new Packuments(client, policy, signal, 2 * order.maxPackages);
  // Each package is requested first, so that the error of a root names it and not one of its dependencies.
  await Promise.all(order.roots.map(({ name }) => packuments.of(name)));
  const tree = await idealTree(order.roots, packuments, folder).catch(async (error: unknown) => {
    throw await refusalOf(error, order, packuments);
  });
  const nodes = usedNodes(tree);
  if (nodes.length > order.maxPackages)
    throw new Refusal(
      order.roots[0]?.name ?? '',
      `the npm packages ${named(order.roots)} need ${nodes.length} packages, the limit is ${order.maxPackages}: use smaller ones`,
    );
  const warnings: Warning[] = [];
  for (const node of nodes) {
    const packument = await packuments.of(node.packageName);
    warnings.push(...checkAge(node, packument, order.minAgeMs, now));
  }
  return {
    packages: await Promise.all(nodes.map((node) => locked(node, packuments))),
    warnings: warnings.slice(0, MAX_WARNINGS),
  };
};

export const named = (roots: readonly Root[]): string =>
  roots
    .slice(0, 5)
    .map(({ name }) => `"${name}"`)
    .join(', ') + (roots.length > 5 ? ` and ${roots.length - 5} more` : '');

const idealTree = async (roots: readonly Root[], packuments: Packuments, folder: string): Promise<TreeNode> => {
  await mkdir(folder);
  try {
    const dependencies = Object.fromEntries(
      roots.map(({ alias, name, range }) => {
        const wanted = range === '' ? 'latest' : range;
        return [alias, alias === name ? wanted : `npm:${name}@${wanted}`];
      }),
    );
    await writeFile(path.join(folder, 'package.json'), JSON.stringify({ dependencies }));
    const options = {
      path: folder,
      registry: NO_REGISTRY,
      cache: path.join(folder, 'cache'),
      packumentCache: packuments,
      includeStaged: true,
      ignoreScripts: true,
      audit: false,
      fund: false,
      save: false,
      packageLock: false,
      offline: true,
      allowGit: 'none',
      allowRemote: 'none',
      allowFile: 'none',
      allowDirectory: 'none',
    };
    const arborist = new Arborist(options as unknown as Arborist.Options);
    return (await arborist.buildIdealTree()) as unknown as TreeNode;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** The packages that the root reaches, without optional ones that are not available or do not run here. */
const usedNodes = (root: TreeNode): readonly TreeNode[] => {
  const left = new Set<TreeNode>();
  const all = reachable(root, left);
  for (const node of all)
    if (!node.isRoot && (node.inert === true || node.errors.length > 0 || !runsOn(platform, node.package)))
      left.add(node);
  for (let size = -1; size !== left.size;) {
    size = left.size;
    for (const node of all)
      if ([...node.edgesOut.values()].some((edge) => isNeeded(edge) && edge.to && left.has(edge.to))) left.add(node);
  }
  if (left.has(root)) throw wrongPlatform(root, left);
  return [...reachable(root, left)].filter((node) => !node.isRoot).sort((a, b) => (a.location < b.location ? -1 : 1));
};

const isNeeded = ({ type }: TreeEdge): boolean => type === 'prod' || type === 'peer';

const reachable = (root: TreeNode, without: ReadonlySet<TreeNode>): Set<TreeNode> => {
  const found = new Set([root]);
  for (const node of found) for (const { to } of node.edgesOut.values()) if (to && !without.has(to)) found.add(to);
  return found;
};

const wrongPlatform = (root: TreeNode, left: ReadonlySet<TreeNode>): Refusal => {
  const wanted = [...root.edgesOut.values()].find(({ to }) => to && left.has(to))?.to;
  const name = wanted?.packageName ?? '';
  return new Refusal(
    name,
    `the npm package "${name}", or one that it needs, does not run on ${platform.os} with ${platform.cpu}`,
  );
};

/** The version of a range that names exactly one, or null. */
const exactly = (spec: string): string | null => semver.valid(rangeOf(spec), { loose: true });
const rangeOf = (spec: string): string => spec.replace(/^npm:(?:@[^/]+\/)?[^@]+@?/, '');

const hours = (ms: number): string => `${Math.max(0, Math.floor(ms / 3_600_000))} h`;

/** Throws for a version that is too young. Returns a warning when a younger one was left out. */
const checkAge = (node: TreeNode, packument: Packument, minAgeMs: number, now: number): readonly Warning[] => {
  const young = Object.keys(packument.stagedVersions.versions);
  if (young.length === 0) return [];
  const name = node.packageName;
  const specs = [...node.edgesIn].map(({ spec }) => spec);
  if (specs.some((spec) => exactly(spec) !== null)) return [];
  const age = (version: string): string => hours(now - Date.parse(packument.time[version] ?? ''));
  if (young.includes(node.version)) throw tooYoung(name, node.version, age(node.version), minAgeMs);
  const skipped = semver
    .rsort(young.filter((version) => semver.gt(version, node.version)))
    .find((version) =>
      specs.every((spec) => semver.validRange(rangeOf(spec)) === null || semver.satisfies(version, rangeOf(spec))),
    );
  if (skipped === undefined || (semver.prerelease(skipped) !== null && semver.prerelease(node.version) === null))
    return [];
  const message = `${name}@${skipped} is left out, because it was published ${age(skipped)} ago and versions must be ${hours(minAgeMs)} old (SLUICE_NPM_MIN_AGE_H): ${name}@${node.version} is installed. Import ${name}@${skipped} to take it anyway`;
  return [{ code: 'package_version_too_young', message: message.slice(0, 1_000), path: name }];
};

const tooYoung = (name: string, version: string, age: string, minAgeMs: number): Refusal =>
  new Refusal(
    name,
    `the wanted versions of the npm package "${name}" are younger than ${hours(minAgeMs)} (SLUICE_NPM_MIN_AGE_H): the newest is ${version}, published ${age} ago. Wait, or name that version exactly: ${name}@${version}`,
  );

const locked = async (node: TreeNode, packuments: Packuments): Promise<LockedPackage> => {
  const { location, packageName: name, version, integrity, resolved } = node;
  // Without a readable hash, npm's resolver returns null, undefined or an empty text.
  if (typeof integrity !== 'string' || integrity === '' || typeof resolved !== 'string')
    throw new Refusal(
      name,
      `the registry gives no valid integrity of the npm package "${name}@${version}", so its tarball cannot be checked`,
    );
  const { time, versions, stagedVersions } = await packuments.of(name);
  const published = Date.parse(time[version] ?? '');
  const licence = (versions[version] ?? stagedVersions.versions[version])?.licence;
  const found = {
    place: location,
    name,
    version,
    // One of several hashes is enough, and the strongest comes last by name.
    integrity: integrity.split(/\s+/).sort().at(-1)?.replace(/\?.*$/, '') ?? '',
    resolved,
    publishedAt: Number.isFinite(published) ? Math.max(0, published) : null,
    ...(licence === undefined ? {} : { licence }),
  };
  // The server checks the same, and could not name the package.
  const wrong = wrongIn(found);
  if (wrong !== undefined) throw new Refusal(name, `the npm package "${name}@${version.slice(0, 100)}" ${wrong}`);
  return found;
};

const wrongIn = (found: LockedPackage): string | undefined => {
  if (lockedPackageOf(found) !== undefined) return undefined;
  if (!isPlace(found.place))
    return `is wanted under the name ${JSON.stringify(aliasIn(found.place))}, which is no name`;
  return INTEGRITY.test(found.integrity)
    ? 'is described by its registry in a form that cannot be stored: its version or the URL of its tarball is too long'
    : `has the malformed integrity ${JSON.stringify(found.integrity.slice(0, 40))} at its registry, so its tarball cannot be checked`;
};

const aliasIn = (place: string): string => place.replace(/^.*node_modules\//, '').slice(0, 100);

/** Turns an error of npm's resolver into a text for the author. Rethrows any other error. */
const refusalOf = async (error: unknown, order: ResolveOrder, packuments: Packuments): Promise<unknown> => {
  if (typeof error !== 'object' || error === null) return error;
  const { code, requiredBy = '', name = '', wanted = '', edge, package: given = '' } = error as ResolverError;
  const wanting = requiredBy.replace(/^.*node_modules\//, '');
  const by = wanting === '' || wanting === '.' ? '' : `, which the npm package "${wanting}" needs`;
  if (error instanceof Refusal) return by === '' ? error : new Refusal(error.packageName, `${error.message}${by}`);
  if (code !== undefined && NOT_OF_A_REGISTRY.test(code)) {
    const kind =
      { GIT: 'git', REMOTE: 'URL', FILE: 'file', DIRECTORY: 'file' }[code.slice('EALLOW'.length)] ?? 'foreign';
    const who = by === '' ? 'the component' : `the npm package "${wanting}"`;
    return new Refusal(
      wanting,
      `${who} needs ${given.slice(0, 200)}, a ${kind} dependency, and packages come from registries only: use a version without it`,
    );
  }
  if (code === 'ETARGET' || code === 'ENOVERSIONS')
    return noVersion(name, wanted, by, order, await packuments.of(name));
  if (code === 'ERESOLVE') {
    const from = edge?.from?.name ?? 'a package';
    return new Refusal(
      edge?.name ?? '',
      `the npm packages do not fit together: "${from}" needs "${edge?.name ?? ''}" as ${edge?.spec ?? ''}, and another version is wanted elsewhere. Import versions that fit`,
    );
  }
  return error;
};

const noVersion = (name: string, wanted: string, by: string, order: ResolveOrder, packument: Packument): Refusal => {
  const isTag = semver.validRange(wanted) === null;
  const fitting = (versions: readonly string[]): string | undefined =>
    semver
      .rsort([...versions])
      .find((version) => isTag || semver.satisfies(version, wanted, { loose: true, includePrerelease: true }));
  const young = fitting(Object.keys(packument.stagedVersions.versions));
  if (young !== undefined)
    return tooYoung(name, young, hours(Date.now() - Date.parse(packument.time[young] ?? '')), order.minAgeMs);
  if (fitting(packument.denied) !== undefined) return new Refusal(name, denied(`${name}@${wanted}`) + by);
  const newest = semver.rsort(Object.keys(packument.versions))[0];
  return new Refusal(
    name,
    `the npm package "${name}" has no version ${wanted.slice(0, 100)}${by}${newest === undefined ? '' : `: the newest is ${newest}`}`,
  );
};
