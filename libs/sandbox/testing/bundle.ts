import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { bundleComponent, DEFAULT_BUILD_LIMITS, type BuildPass, type Built } from '../bundler/bundler.js';
import { compile } from '../bundler/compile.js';
import { type BundleInput } from '../bundler/component-files.js';
import { noPackages, type PackageSource } from '../bundler/packages.js';
import { shimCode } from '../child-build.js';

let shims: ReturnType<typeof shimCode> | undefined;

const pass: BuildPass = async (files, packages) => {
  shims ??= shimCode(fileURLToPath(new URL('..', import.meta.url)));
  const { bundleBytes } = DEFAULT_BUILD_LIMITS;
  return compile(esbuild, { files, packages, shims: await shims, refusePatterns: true, bundleBytes });
};

/** Bundles trusted code like the build jail, but in this process without isolation. */
export const bundleHere = async (input: BundleInput, packages: PackageSource = noPackages): Promise<string> =>
  (await buildHere(input, packages)).bundle;

/** Like bundleHere, with the packages of the bundle. */
export const buildHere = (input: BundleInput, packages: PackageSource): Promise<Built> =>
  bundleComponent(pass, input, { packages, limits: DEFAULT_BUILD_LIMITS, workspaceId: 'o_1' });
