import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { innerShim, isInnerShim, SHIM_NAMES } from './bundler/imports.js';

export type ChildKind = 'plain' | 'build' | 'test' | 'unpack';

/** Code for jailed processes: that of children, and `request`, which a child loads to send configured requests. */
export type JailedCode = ChildKind | 'request';

const CHILD = { bundle: true, platform: 'node', format: 'cjs', target: 'node20', write: false } satisfies BuildOptions;

/**
 * Bundles the jailed child into one file, from the sources in `sandbox` (libs/sandbox). The kind `build` bundles
 * components. It contains esbuild's API and, as text, the shims. The kind `test` runs components for the test kit. The
 * kind `unpack` unpacks the tarball of an npm package.
 */
export const buildChild = async (sandbox: string, kind: JailedCode): Promise<string> => {
  if (kind === 'request')
    return bundle({
      ...CHILD,
      entryPoints: [path.join(sandbox, 'shim/http-request.ts')],
      plugins: [fewerMimeTypes],
      minify: true,
    });
  if (kind === 'test') return bundle({ ...CHILD, entryPoints: [path.join(sandbox, 'test-child/main.ts')] });
  if (kind === 'plain') return bundle({ ...CHILD, entryPoints: [path.join(sandbox, 'child/main.ts')] });
  if (kind === 'build') return buildBuilder(sandbox);
  return bundle({ ...CHILD, entryPoints: [path.join(sandbox, 'unpack/main.ts')] });
};

const buildBuilder = async (sandbox: string): Promise<string> =>
  bundle({
    ...CHILD,
    entryPoints: [path.join(sandbox, 'bundler/main.ts')],
    define: { SHIM_CODE: JSON.stringify(await shimCode(sandbox)) },
    // esbuild resolves its own path only when ESBUILD_BINARY_PATH is not set.
    logOverride: { 'require-resolve-not-external': 'silent' },
  });

/** Code of each shim, by name. */
export const shimCode = async (sandbox: string): Promise<Readonly<Record<string, string>>> => {
  const shims: Record<string, string> = {};
  for (const name of SHIM_NAMES) {
    const entry = path.join(sandbox, `shim/${name}.ts`);
    // As CommonJS an inner shim requires its modules of Node when it is first used, not when the component is loaded.
    const format = isInnerShim(name) ? 'cjs' : 'esm';
    shims[name] = await bundle({ ...CHILD, format, entryPoints: [entry], plugins: [innerShimsApart, fewerMimeTypes] });
  }
  return shims;
};

/** Leaves imports of inner shims in the code of a shim. They are resolved when a component is bundled. */
const innerShimsApart: Plugin = {
  name: 'inner-shims-apart',
  setup: (hooks) => {
    hooks.onResolve({ filter: /^\./ }, ({ path: name }) =>
      innerShim(name) === undefined ? undefined : { path: name, external: true },
    );
  },
};

/** Leaves out types without a file extension: axios looks up types by extension only, and the list is half its size. */
const fewerMimeTypes: Plugin = {
  name: 'fewer-mime-types',
  setup: (hooks) => {
    hooks.onLoad({ filter: /[/\\]mime-db[/\\]db\.json$/ }, async ({ path: file }) => {
      const types = Object.entries(
        JSON.parse(await readFile(file, 'utf8')) as Record<string, { extensions?: unknown }>,
      );
      const contents = JSON.stringify(
        Object.fromEntries(types.filter(([, { extensions }]) => extensions !== undefined)),
      );
      return { contents, loader: 'json' };
    });
  },
};

const bundle = async (options: BuildOptions): Promise<string> => {
  const { outputFiles } = await build({ ...options, logLevel: 'warning' });
  const file = outputFiles?.[0];
  if (!file) throw new Error('bundling the child produced no file');
  return file.text;
};
