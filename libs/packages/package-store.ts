import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type LockedPackage, type PackageLock } from '#libs/component-model/package-lock.js';
import { Semaphore } from '#libs/async/semaphore.js';
import { withDeadline } from '#libs/async/deadline.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Warning } from '#libs/kernel/warning.js';
import {
  type InstalledPackages,
  type PackageRequest,
  type PackageSource,
  type JailLevel,
  TarballJail,
  type FileSink,
} from '#libs/sandbox/index.js';
import { Access, type ScopeAccess } from './access.js';
import { ContentStore, type Content } from './content-store.js';
import { lockedPackageOf, type ProxyOrder } from './fetcher/message.js';
import { FetcherEnded, FetcherProcess } from './fetcher-process.js';
import { PackageCache } from './package-cache.js';
import { DEFAULT_PACKAGE_LIMITS, type PackageLimits } from './package-limits.js';
import { unavailable } from './refusals.js';
import { type RegistryRule } from './registry-rules.js';
import { Trees } from './trees.js';
import { covers, lockOf, wantedBy } from './wanted-packages.js';

/** Facts of one install, for a line of the log. */
export interface InstallFacts {
  readonly workspace_id: string;
  readonly packages: number;
  readonly bytes: number;
  readonly downloaded: number;
  readonly downloaded_bytes: number;
  readonly resolve_ms: number;
  readonly fetch_ms: number;
  readonly unpack_ms: number;
  readonly ms: number;
  readonly cached: boolean;
  readonly failed?: string;
}

export interface PackageStoreOptions {
  /** Folder of the cache, which several processes may share. */
  readonly folder: string;
  readonly level: JailLevel;
  readonly registries: readonly RegistryRule[];
  /** The operator's proxy, by which registries are reached. */
  readonly proxy?: ProxyOrder | null | undefined;
  readonly scopes?: readonly ScopeAccess[];
  readonly deny?: readonly string[];
  readonly minAgeMs?: number;
  readonly offline?: boolean;
  readonly cacheMb?: number;
  readonly limits?: Partial<PackageLimits>;
  readonly onInstall?: (facts: InstallFacts) => void;
}

interface Tally {
  packages: number;
  bytes: number;
  downloaded: number;
  downloadedBytes: number;
  resolveMs: number;
  fetchMs: number;
  unpackMs: number;
  unpackedBytes: number;
}

/** Downloads at once of one install. */
const DOWNLOADS = 6;
/** Tarballs that are unpacked at once, each in a process of its own. */
const UNPACKERS = 2;

/** Packages from the configured registries, or from the cache (docs/adr/0021). */
export class PackageStore implements PackageSource {
  private readonly limits: PackageLimits;
  private readonly cache: PackageCache;
  private readonly access: Access;
  private readonly fetcher: FetcherProcess;
  private readonly jail: TarballJail;
  private readonly turns: Semaphore;
  private readonly unpackers = new Semaphore<null>(UNPACKERS);
  private readonly obtaining = new Map<string, Promise<Content>>();
  private readonly closing = new AbortController();

  constructor(private readonly options: PackageStoreOptions) {
    this.limits = { ...DEFAULT_PACKAGE_LIMITS, ...options.limits };
    this.cache = new PackageCache(options.folder, options.cacheMb ?? 2_048);
    this.access = new Access(options.deny ?? [], options.scopes ?? []);
    this.fetcher = new FetcherProcess(options.registries, options.proxy);
    this.jail = new TarballJail(options.level);
    const perWorkspace = Math.max(1, Math.floor(this.limits.atOnce / 2));
    this.turns = new Semaphore(this.limits.atOnce, () => perWorkspace);
  }

  async install(request: PackageRequest): Promise<InstalledPackages> {
    const startedAt = performance.now();
    const tally: Tally = {
      packages: 0,
      bytes: 0,
      downloaded: 0,
      downloadedBytes: 0,
      resolveMs: 0,
      fetchMs: 0,
      unpackMs: 0,
      unpackedBytes: 0,
    };
    try {
      const installed = await this.installed(request, tally);
      this.report(request, tally, startedAt, { bytes: installed.bytes, cached: installed.cached });
      return installed;
    } catch (error) {
      this.report(request, tally, startedAt, {
        cached: false,
        failed: error instanceof Error ? error.message : String(error),
      });
      throw explained(error, request, this.limits.timeoutMs);
    }
  }

  /** Ends all processes and rejects waiting installs. Idempotent. */
  async close(): Promise<void> {
    this.closing.abort();
    this.cache.close();
    await this.fetcher.close();
    await this.jail.close();
  }

  private report(
    { workspaceId }: PackageRequest,
    tally: Tally,
    startedAt: number,
    last: { readonly bytes?: number; readonly cached: boolean; readonly failed?: string },
  ): void {
    this.options.onInstall?.({
      workspace_id: workspaceId,
      packages: tally.packages,
      bytes: tally.bytes,
      downloaded: tally.downloaded,
      downloaded_bytes: tally.downloadedBytes,
      resolve_ms: Math.round(tally.resolveMs),
      fetch_ms: Math.round(tally.fetchMs),
      unpack_ms: Math.round(tally.unpackMs),
      ms: Math.round(performance.now() - startedAt),
      ...last,
    });
  }

  private async installed(request: PackageRequest, tally: Tally): Promise<InstalledPackages> {
    const { specifiers, workspaceId, lock: given } = request;
    await this.cache.open();
    const known = given && covers(given, specifiers) ? checked(given, this.limits.packages) : undefined;
    if (known) {
      this.access.check(known.packages, workspaceId);
      tally.packages = known.packages.length;
      const cached = await this.taken(known, [], true);
      if (cached) return cached;
    }
    if (this.options.offline === true) throw this.offline(specifiers, known);
    return this.inTurn(workspaceId, async (signal) => {
      const { lock, warnings } = known ? { lock: known, warnings: [] } : await this.resolved(request, tally, signal);
      this.access.check(lock.packages, workspaceId);
      tally.packages = lock.packages.length;
      const key = Trees.keyOf(lock.packages);
      // Acquired before it is made, so that no process removes it in between.
      const before = await this.taken(lock, warnings, true);
      if (before) return before;
      await this.cache.make(key, lock.packages, (one) => this.obtain(one, tally, signal));
      const made = await this.taken(lock, warnings, false);
      if (!made) throw new Error('the folder of the packages was removed as soon as it was made');
      return made;
    });
  }

  private offline(specifiers: readonly string[], known: PackageLock | undefined): DomainError {
    const names = specifiers.slice(0, 5).map((one) => `"${one.slice(0, 214)}"`);
    const why = known ? 'and the cache no longer has all its packages' : 'and it is not pinned yet';
    return unavailable(
      `the npm package ${names.join(', ')} cannot be installed, because the server is offline (SLUICE_NPM_OFFLINE) ${why}`,
      specifiers[0] ?? '',
    );
  }

  /**
   * Runs an install in its turn, with a deadline for waiting and one for the work, so that none occupies a slot for
   * long.
   */
  private async inTurn<T>(workspaceId: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const turn = this.turns.acquire(workspaceId);
    let isLate = false;
    await withDeadline(turn, this.limits.waitMs, () => {
      isLate = true;
      return new DomainError(
        'component.builds_overloaded',
        `${this.limits.atOnce} installs of npm packages are running, and none ended within ${this.limits.waitMs} ms: try again later`,
        { limit: this.limits.atOnce },
      );
    }).catch((error: unknown) => {
      if (isLate) void turn.then(() => this.turns.release(workspaceId));
      throw error;
    });
    // Node 20 may collect AbortSignal.any() of a timeout before it fires, and the install would never end.
    const aborter = new AbortController();
    // Each download of the install listens to it, and Node warns of more than ten.
    setMaxListeners(0, aborter.signal);
    const close = (): void => aborter.abort(this.closing.signal.reason);
    const late = (): void => aborter.abort(new DOMException('the install took too long', 'TimeoutError'));
    const deadline = setTimeout(late, this.limits.timeoutMs);
    if (this.closing.signal.aborted) close();
    else this.closing.signal.addEventListener('abort', close, { once: true });
    try {
      return await work(aborter.signal);
    } finally {
      clearTimeout(deadline);
      this.closing.signal.removeEventListener('abort', close);
      this.turns.release(workspaceId);
    }
  }

  private async resolved(
    { specifiers, workspaceId }: PackageRequest,
    tally: Tally,
    signal: AbortSignal,
  ): Promise<{ readonly lock: PackageLock; readonly warnings: readonly Warning[] }> {
    const startedAt = performance.now();
    const wanted = wantedBy(specifiers);
    const order = {
      roots: wanted.roots,
      minAgeMs: this.options.minAgeMs ?? 0,
      deny: this.options.deny ?? [],
      closedScopes: this.access.closedTo(workspaceId),
      maxPackages: this.limits.packages,
    };
    const { packages, warnings } = await this.fetcher.resolve(order, signal);
    tally.resolveMs = performance.now() - startedAt;
    return { lock: checked(lockOf(wanted, packages), this.limits.packages), warnings };
  }

  /** Returns the folder of a lock if it exists. The caller releases it. */
  private async taken(
    lock: PackageLock,
    warnings: readonly Warning[],
    cached: boolean,
  ): Promise<InstalledPackages | undefined> {
    const key = Trees.keyOf(lock.packages);
    const found = await this.cache.find(key);
    if (!found) return undefined;
    let isReleased = false;
    return {
      folder: found.folder,
      lock,
      warnings,
      bytes: found.bytes,
      cached,
      release: () => {
        if (!isReleased) this.cache.release(key);
        isReleased = true;
        return Promise.resolve();
      },
    };
  }

  /** Downloads and unpacks a package. Concurrent installs of the same package share the work. */
  private obtain(one: LockedPackage, tally: Tally, signal: AbortSignal): Promise<Content> {
    const key = ContentStore.keyOf(one);
    const known = this.obtaining.get(key);
    if (known) return known.catch(() => this.download(key, one, tally, signal));
    const obtained = this.download(key, one, tally, signal).finally(() => this.obtaining.delete(key));
    this.obtaining.set(key, obtained);
    return obtained;
  }

  private readonly downloads = new Semaphore<null>(DOWNLOADS);

  private async download(key: string, one: LockedPackage, tally: Tally, signal: AbortSignal): Promise<Content> {
    const { name, version, resolved, integrity } = one;
    const { tarballBytes, tarballBytesInAll } = this.limits;
    const startedAt = performance.now();
    const { file, bytes } = await this.downloads.run(null, () => {
      signal.throwIfAborted();
      return this.fetcher.fetch({ name, version, resolved, integrity, maxBytes: tarballBytes }, signal);
    });
    tally.fetchMs += performance.now() - startedAt;
    try {
      tally.downloaded++;
      tally.downloadedBytes += bytes;
      if (tally.downloadedBytes > tarballBytesInAll)
        throw unavailable(
          `the npm packages are too large: with "${name}@${version}" their tarballs exceed the limit of ${tarballBytesInAll} bytes`,
          name,
        );
      await checkIntegrity(file, one);
      return await this.unpackers.run(null, () => this.unpack(key, file, one, tally, signal));
    } finally {
      await rm(file, { force: true });
    }
  }

  private async unpack(
    key: string,
    file: string,
    one: LockedPackage,
    tally: Tally,
    signal: AbortSignal,
  ): Promise<Content> {
    const { name, version } = one;
    const { bytes, entries, ratio, timeoutMs } = this.limits;
    const startedAt = performance.now();
    const left = Math.max(0, bytes - tally.unpackedBytes);
    try {
      signal.throwIfAborted();
      return await this.cache.contents.add(key, async (sink) => {
        const counted: FileSink = async (...part) => {
          signal.throwIfAborted();
          tally.unpackedBytes += part[1].length;
          await sink(...part);
        };
        const result = await this.jail.unpack(file, { bytes: left, entries, ratio }, timeoutMs, counted, name);
        if (result.kind === 'refused')
          throw unavailable(`the npm package "${name}@${version}" cannot be unpacked: ${result.reason}`, name);
      });
    } catch (error) {
      if (isPathConflict(error))
        throw unavailable(
          `the npm package "${name}@${version}" cannot be unpacked: a file and a folder have the same path`,
          name,
        );
      throw error;
    } finally {
      tally.unpackMs += performance.now() - startedAt;
    }
  }
}

const isPathConflict = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  ['ENOTDIR', 'EISDIR', 'EEXIST'].includes(String(error.code));

/** Locks come from stored components, and their places become paths. */
const checked = (lock: PackageLock, most: number): PackageLock => {
  const packages = lock.packages.map(lockedPackageOf).filter((one) => one !== undefined);
  const places = new Set(packages.map(({ place }) => place));
  const isWhole = packages.length === lock.packages.length && places.size === packages.length;
  if (!isWhole || packages.length > most || Object.values(lock.specifiers).some((place) => !places.has(place)))
    throw unavailable('the lock of the npm packages is damaged: save the component again', '');
  return { specifiers: lock.specifiers, packages };
};

/** Checks the tarball again, because the process that fetched it reads hostile input. */
const checkIntegrity = async (file: string, { name, version, integrity }: LockedPackage): Promise<void> => {
  const [algorithm = '', digest] = integrity.split(/-(.*)/s);
  const hash = createHash(algorithm);
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  if (hash.digest('base64') !== digest)
    throw unavailable(`the tarball of the npm package "${name}@${version}" does not match its integrity`, name);
};

/** Names the packages where an error does not. */
const explained = (error: unknown, { specifiers }: PackageRequest, timeoutMs: number): unknown => {
  if (error instanceof DomainError) return error;
  const names = specifiers.slice(0, 5).map((one) => `"${one.slice(0, 214)}"`);
  const first = specifiers[0] ?? '';
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return unavailable(
      `the npm package ${names.join(', ')} could not be installed within ${timeoutMs} ms: try again later`,
      first,
    );
  if (error instanceof FetcherEnded)
    return unavailable(
      `the npm package ${names.join(', ')} could not be fetched, because the process that does so ended: try again later`,
      first,
    );
  return error;
};
