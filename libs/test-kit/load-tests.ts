/** Hooks of Node's loader for files of tests, which run in a thread of their own. */
import { readFile } from 'node:fs/promises';
import { type InitializeHook, type LoadHook, type ResolveHook } from 'node:module';
import { fileURLToPath } from 'node:url';

let kit = '';

export const initialize: InitializeHook<{ readonly kit: string }> = (data) => {
  kit = data.kit;
};

/** A project may be without the package. */
export const resolve: ResolveHook = async (name, context, next) => {
  try {
    return await next(name, context);
  } catch (error) {
    if (name !== 'sluice/test') throw error;
    return { url: kit, shortCircuit: true };
  }
};

const TYPESCRIPT = /^file:.*\.(?:ts|mts|cts)$/;

/** esbuild removes the types, because not every Node that is supported does. */
export const load: LoadHook = async (url, context, next) => {
  if (!TYPESCRIPT.test(url) || url.includes('/node_modules/')) return next(url, context);
  const { transform } = await import('esbuild');
  const format = url.endsWith('.cts') ? 'cjs' : 'esm';
  const { code } = await transform(await readFile(fileURLToPath(url), 'utf8'), {
    loader: 'ts',
    format,
    target: 'node20',
    sourcemap: 'inline',
    sourcefile: fileURLToPath(url),
    tsconfigRaw: '{}',
  });
  return { format: format === 'cjs' ? 'commonjs' : 'module', source: code, shortCircuit: true };
};
