import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions } from 'esbuild';

/** Bundles the jailed process that evaluates expressions, from the sources in `expressions` (libs/expressions). */
export const buildExpressionsChild = async (expressions: string): Promise<string> => {
  const realm = await buildRealm(expressions);
  return bundled({
    entryPoints: [path.join(expressions, 'child/main.ts')],
    platform: 'node',
    format: 'cjs',
    // Bundles the class VM only. NodeVM and its resolver would double the size.
    alias: { vm2: 'vm2/lib/vm.js' },
    external: ['typescript', 'coffee-script'],
    define: { REALM_CODE: JSON.stringify(realm) },
  });
};

/** Set-up code of the realm, which leaves its end in a variable `realm`. */
export const buildRealm = (expressions: string): Promise<string> =>
  bundled({
    entryPoints: [path.join(expressions, 'child/realm/main.ts')],
    platform: 'neutral',
    format: 'iife',
    globalName: 'realm',
    // Strict mode, so that a function without `this` does not get the global object.
    banner: { js: '"use strict";' },
  });

const bundled = async (options: BuildOptions): Promise<string> => {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    ...options,
    bundle: true,
    target: 'node20',
    write: false,
    logLevel: 'warning',
  });
  const file = outputFiles?.[0];
  if (!file) throw new Error('bundling the process of expressions produced no file');
  return file.text;
};

let code: Promise<string> | undefined;

/** Code of that process. The build puts it beside this file. Tests run from source and bundle it on demand. */
export const expressionsChildCode = (): Promise<string> => {
  const here = new URL(import.meta.url);
  code ??= here.pathname.endsWith('.ts')
    ? buildExpressionsChild(fileURLToPath(new URL('.', here)))
    : readFile(new URL('./expressions-child.cjs', here), 'utf8');
  return code;
};
