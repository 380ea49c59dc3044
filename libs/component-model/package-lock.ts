import { type Warning } from '#libs/kernel/warning.js';

/** npm packages of a component, pinned when it was saved (docs/reference/component-model.md#npm-packages). Plain JSON. */
export interface LockedPackage {
  /** Folder below the root, such as `node_modules/a/node_modules/b`. */
  readonly place: string;
  readonly name: string;
  readonly version: string;
  /** Subresource integrity of the tarball, such as `sha512-…`. */
  readonly integrity: string;
  /** URL of the tarball at the registry that resolved it. */
  readonly resolved: string;
  /** Epoch milliseconds, or null when the registry does not state it. */
  readonly publishedAt: number | null;
  /** As its package.json states it. Absent when it states none. */
  readonly licence?: string;
}

export interface PackageLock {
  /** Each specifier as the code writes it (`a`, `a@^1.0.0/sub`), and the place of its package. */
  readonly specifiers: Readonly<Record<string, string>>;
  /** Sorted by place. */
  readonly packages: readonly LockedPackage[];
}

/** Changes of a component's packages when they were resolved anew. */
export interface PackageChanges {
  readonly added: readonly { readonly name: string; readonly version: string }[];
  readonly removed: readonly { readonly name: string; readonly version: string }[];
  readonly changed: readonly { readonly name: string; readonly from: string; readonly to: string }[];
}

/** Packages of a component after a build. */
export interface ComponentPackages {
  readonly lock: PackageLock;
  /** Places of packages that the bundle requires while it runs (docs/reference/component-model.md#packages-beside). */
  readonly externals: readonly string[];
  /** True when one of these, or one that it needs, loads machine code. */
  readonly hasMachineCode: boolean;
  readonly warnings: readonly Warning[];
  /** Unpacked size of all packages. */
  readonly bytes: number;
  readonly cached: boolean;
  /** Time that the installation took. */
  readonly ms: number;
}
