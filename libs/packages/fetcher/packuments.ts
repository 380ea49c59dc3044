import semver from 'semver';
import { statedLicence } from '#libs/component-model/licences.js';
import { type DenyList } from '../deny-list.js';
import { isPackageName, scopeOf } from '../specifier.js';
import { denied, notOpen } from './refusal-texts.js';
import { Refusal, type RegistryClient } from './registry-client.js';

type Fields = Readonly<Record<string, unknown>>;
type Texts = Readonly<Record<string, string>>;

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dist: { readonly tarball: string; readonly integrity?: string; readonly shasum?: string };
  readonly licence?: string;
  readonly [field: string]: unknown;
}

/** Description of a package, reduced to the needs of its resolution. */
export interface Packument {
  readonly name: string;
  readonly 'dist-tags': Texts;
  readonly versions: Readonly<Record<string, Manifest>>;
  /** Versions that are too young. npm's resolver chooses them for a range only when no other one fits. */
  readonly stagedVersions: { readonly versions: Readonly<Record<string, Manifest>> };
  readonly time: Texts;
  readonly denied: readonly string[];
}

export interface PackumentPolicy {
  readonly minAgeMs: number;
  readonly deny: DenyList;
  readonly closedScopes: ReadonlySet<string>;
  readonly now: number;
}

/** Packages that the runtime replaces. They are never requested. */
const OWN_PACKAGES: readonly string[] = ['@pipedream/platform', '@pipedream/types', 'sluice'];
const DEPENDENCIES = ['dependencies', 'optionalDependencies', 'peerDependencies'] as const;
const MAX_DEPENDENCIES = 2_000;
const MAX_ENTRIES = 20_000;

/** Host of the registry for npm's resolver. It has no packages, so only this cache answers. */
export const NO_REGISTRY = 'http://registry.invalid/';

/** Descriptions of packages for one resolution, in the form of npm's packument cache. It is the resolver's only source. */
export class Packuments {
  private readonly known = new Map<string, Promise<Packument>>();

  constructor(
    private readonly client: Pick<RegistryClient, 'packument'>,
    private readonly policy: PackumentPolicy,
    private readonly signal: AbortSignal,
    /** Descriptions that one resolution may request. */
    private readonly most: number,
  ) {}

  has(): boolean {
    return true;
  }

  set(): void {
    // Only this class writes.
  }

  delete(): void {
    // A failure stays for the rest of the resolution.
  }

  /** @param key `full:<registry>/<escaped name>`, as npm's resolver makes it. */
  get(key: string): Promise<Packument> {
    return this.of(decodeURIComponent(key.slice(key.indexOf(NO_REGISTRY) + NO_REGISTRY.length)));
  }

  of(name: string): Promise<Packument> {
    const known = this.known.get(name);
    if (known) return known;
    const asked = this.known.size < this.most ? this.ask(name) : Promise.reject(tooMany(name, this.most));
    asked.catch(() => undefined);
    this.known.set(name, asked);
    return asked;
  }

  private async ask(name: string): Promise<Packument> {
    const { deny, closedScopes } = this.policy;
    const scope = scopeOf(name);
    if (!isPackageName(name))
      throw new Refusal(name.slice(0, 214), `"${name.slice(0, 214)}" is no name of an npm package`);
    if (OWN_PACKAGES.includes(name)) throw new Refusal(name, ofRuntime(name));
    if (scope !== null && closedScopes.has(scope)) throw new Refusal(name, notOpen(name));
    if (deny.deniesAll(name)) throw new Refusal(name, denied(name));
    return trimmed(name, await this.client.packument(name, this.signal), this.policy);
  }
}

const tooMany = (name: string, most: number): Refusal =>
  new Refusal(
    name.slice(0, 214),
    `the npm packages of the component need more than ${most} others, such as "${name.slice(0, 214)}": use smaller ones`,
  );
const ofRuntime = (name: string): string =>
  `the npm package "${name}" is not installed, because the runtime takes its place: import it without a path or version`;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textsOf = (value: unknown, most = MAX_ENTRIES): Record<string, string> => {
  if (!isFields(value)) return {};
  const entries = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(entries.slice(0, most));
};

/** Keeps only the fields for the resolution, so that descriptions of megabytes do not stay in memory. */
const trimmed = (name: string, given: unknown, policy: PackumentPolicy): Packument => {
  if (!isFields(given) || !isFields(given.versions))
    throw new Refusal(name, `the registry describes no versions of the npm package "${name}"`);
  const time = textsOf(given.time);
  const old: Record<string, Manifest> = {};
  const young: Record<string, Manifest> = {};
  const deniedVersions: string[] = [];
  for (const [version, described] of Object.entries(given.versions).slice(0, MAX_ENTRIES)) {
    const manifest = semver.valid(version) === version ? manifestOf(name, version, described) : undefined;
    if (!manifest) continue;
    const age = policy.now - Date.parse(time[version] ?? '');
    if (policy.deny.denies(name, version)) deniedVersions.push(version);
    else if (policy.minAgeMs > 0 && age < policy.minAgeMs) young[version] = manifest;
    else old[version] = manifest;
  }
  return {
    name,
    'dist-tags': tagsOf(textsOf(given['dist-tags']), Object.keys(old)),
    versions: old,
    stagedVersions: { versions: young },
    time,
    denied: deniedVersions,
  };
};

/** A tag of a version that is too young or denied names the newest one before it. */
const tagsOf = (tags: Texts, versions: readonly string[]): Texts => {
  const known = new Set(versions);
  const read: Record<string, string> = {};
  for (const [tag, version] of Object.entries(tags)) {
    if (known.has(version)) read[tag] = version;
    else if (semver.valid(version) !== null) {
      const before = versions.filter((each) => semver.lt(each, version));
      const stable = before.filter((each) => semver.prerelease(each) === null);
      const [newest] = semver.rsort(stable.length > 0 && semver.prerelease(version) === null ? stable : before);
      if (newest !== undefined) read[tag] = newest;
    }
  }
  return read;
};

const manifestOf = (name: string, version: string, described: unknown): Manifest | undefined => {
  if (!isFields(described) || !isFields(described.dist) || typeof described.dist.tarball !== 'string') return undefined;
  const { tarball, integrity, shasum } = described.dist;
  const { os, cpu, libc, peerDependenciesMeta, deprecated } = described;
  const licence = statedLicence(described);
  const wanted = DEPENDENCIES.map((kind) => [kind, dependenciesOf(described[kind])] as const);
  return {
    name,
    version,
    _id: `${name}@${version}`,
    ...Object.fromEntries(wanted),
    ...(isFields(peerDependenciesMeta) ? { peerDependenciesMeta } : {}),
    ...(isFields(described.engines) ? { engines: textsOf(described.engines) } : {}),
    ...(typeof deprecated === 'string' && deprecated !== '' ? { deprecated: 'deprecated' } : {}),
    ...(licence === undefined ? {} : { licence }),
    ...listed('os', os),
    ...listed('cpu', cpu),
    ...listed('libc', libc),
    dist: {
      tarball,
      ...(typeof integrity === 'string' ? { integrity } : {}),
      ...(typeof shasum === 'string' ? { shasum } : {}),
    },
  };
};

/**
 * Removes packages that the runtime replaces, and an empty name, for which npm's resolver would request "undefined".
 * Another bad name is refused when it is requested.
 */
const dependenciesOf = (value: unknown): Record<string, string> => {
  const { '': _, ...named } = textsOf(value, MAX_DEPENDENCIES);
  for (const name of OWN_PACKAGES) Reflect.deleteProperty(named, name);
  return named;
};

const listed = (field: string, value: unknown): Fields => {
  const entries = typeof value === 'string' ? [value] : value;
  return Array.isArray(entries) ? { [field]: entries.filter((each) => typeof each === 'string') } : {};
};
