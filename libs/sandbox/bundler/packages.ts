import { DomainError } from '../../kernel/domain-error.js';

/** Provides packages by specifier, as written in the import (`name`, `name@^1.0.0`, `@scope/name/sub`). */
export interface PackageResolver {
  /** Returns a folder whose node_modules contains them all. Rejects with DomainError component.package_unavailable. */
  resolve(specifiers: readonly string[]): Promise<string>;
}

/** Resolver that refuses every package. */
export const noPackages: PackageResolver = {
  resolve: (specifiers) =>
    Promise.reject(
      new DomainError(
        'component.package_unavailable',
        `the component imports the npm package ${specifiers.map((name) => `"${name}"`).join(', ')}: npm packages are not available yet, only the modules of Node, and files of the component itself`,
        { packages: specifiers },
      ),
    ),
};
