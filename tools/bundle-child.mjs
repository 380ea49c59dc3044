// Completes `tsc`: bundles the sandbox child into the one file that is mounted in the jail.
import { existsSync } from 'node:fs';
import { build } from 'esbuild';

const entry = 'libs/runtime/child/main.ts';
if (existsSync(entry)) {
  await build({
    entryPoints: [entry],
    outfile: 'dist/libs/runtime/child.cjs',
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['vm2'],
    sourcemap: false,
    logLevel: 'warning',
  });
}
