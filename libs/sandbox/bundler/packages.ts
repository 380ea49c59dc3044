import { DomainError } from '../../kernel/domain-error.js';

/** A package that a component imports, as it is written there (`name`, `name@^1.0.0`, `@scope/name/sub`). */
export interface PackageResolver {
  /** Returns the folder whose node_modules holds them all. Rejects with DomainError component.package_unavailable. */
  resolve(specifiers: readonly string[]): Promise<string>;
}

/** Refuses every package: they come with the package installer. */
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
