import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { bundleComponent, DEFAULT_BUILD_LIMITS, type BuildPass } from '../bundler/bundler.js';
import { compile } from '../bundler/compile.js';
import { type BundleInput } from '../bundler/component-files.js';
import { noPackages, type PackageResolver } from '../bundler/packages.js';
import { shimCode } from '../child-build.js';

let shims: ReturnType<typeof shimCode> | undefined;

const pass: BuildPass = async (files, packagesIn) => {
  shims ??= shimCode(fileURLToPath(new URL('..', import.meta.url)));
  const { bundleBytes } = DEFAULT_BUILD_LIMITS;
  return compile(esbuild, { files, packagesIn, shims: await shims, refusePatterns: true, bundleBytes });
};

/** Bundles trusted code like the build jail, but in this process without isolation. */
export const bundleHere = (input: BundleInput, packages: PackageResolver = noPackages): Promise<string> =>
  bundleComponent(pass, input, { packages, limits: DEFAULT_BUILD_LIMITS });
