/** Namespace of a bundle's inputs that stand for a file of a package beside the bundle. */
export const BESIDE = 'beside';
/** How a bundle requires such a file: the scheme, and the path below the folder of the packages. */
export const BESIDE_SCHEME = 'sluice-package:';
/** Path of the packages within a jail. */
export const PACKAGES = '/packages';
