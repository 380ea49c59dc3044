import path from 'node:path';
import { build, type BuildOptions } from 'esbuild';

export type ChildKind = 'plain' | 'vm2';

const CHILD = { bundle: true, platform: 'node', format: 'cjs', target: 'node20', write: false } satisfies BuildOptions;

/**
 * The jailed child as one file, from the sources in `runtime` (libs/runtime). `vm2` is the child that runs components
 * within a vm2 realm: it holds vm2 and, as text, the code that the realm starts with.
 */
export const buildChild = async (runtime: string, kind: ChildKind): Promise<string> => {
  if (kind === 'plain') return bundle({ ...CHILD, entryPoints: [path.join(runtime, 'child/main.ts')] });
  const realm = await bundle({
    entryPoints: [path.join(runtime, 'vm2/realm/main.ts')],
    bundle: true,
    platform: 'neutral',
    format: 'iife',
    globalName: 'realm',
    target: 'node20',
    write: false,
    // What the child's own modules import from Node.
    alias: { 'node:util': path.join(runtime, 'vm2/realm/inspect.ts') },
  });
  return bundle({
    ...CHILD,
    entryPoints: [path.join(runtime, 'vm2/main.ts')],
    // The class VM alone: NodeVM and its resolver would be as large again.
    alias: { vm2: 'vm2/lib/vm.js' },
    external: ['typescript', 'coffee-script'],
    define: { REALM_CODE: JSON.stringify(realm) },
  });
};

const bundle = async (options: BuildOptions): Promise<string> => {
  const { outputFiles } = await build({ ...options, logLevel: 'warning' });
  const file = outputFiles?.[0];
  if (!file) throw new Error('bundling the child gave no file');
  return file.text;
};
