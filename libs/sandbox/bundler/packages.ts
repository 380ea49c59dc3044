import { type PackageLock } from '#libs/component-model/package-lock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Warning } from '#libs/kernel/warning.js';

export interface PackageRequest {
  /** Specifiers as the code writes them (`name`, `name@^1.0.0`, `@scope/name/sub`). */
  readonly specifiers: readonly string[];
  /** A private scope may be open to some workspaces only. */
  readonly workspaceId: string;
  /** Lock whose packages are reused. Without it, or when it lacks a specifier, the registry is asked. */
  readonly lock?: PackageLock | undefined;
}

export interface InstalledPackages {
  /** Read-only folder with `node_modules`, which holds the packages of the lock and nothing else. */
  readonly folder: string;
  readonly lock: PackageLock;
  /** Notes, such as versions that were skipped because they are too young. */
  readonly warnings: readonly Warning[];
  /** Unpacked size of all packages. */
  readonly bytes: number;
  /** Whether the folder already existed. */
  readonly cached: boolean;
  /** Releases the folder, which may then be removed. Idempotent. */
  release(): Promise<void>;
}

/** Port through which a build gets npm packages. The server's own process neither asks a registry nor unpacks. */
export interface PackageSource {
  /** Rejects with DomainError component.package_unavailable that names the package. A repeat is served from the cache. */
  install(request: PackageRequest): Promise<InstalledPackages>;
}

/** Source that refuses every package. */
export const noPackages: PackageSource = {
  install: ({ specifiers }) =>
    Promise.reject(
      new DomainError(
        'component.package_unavailable',
        `the component imports the npm package ${specifiers.map((name) => `"${name}"`).join(', ')}: npm packages are not available yet, only the modules of Node, and files of the component itself`,
        { packages: specifiers },
      ),
    ),
};
