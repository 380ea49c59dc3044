// Completes `tsc`: bundles the sandbox child into the one file that is mounted in the jail, and its vm2 variant.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildChild } from '../dist/libs/runtime/child-build.js';

const runtime = path.resolve('libs/runtime');
await writeFile('dist/libs/runtime/child.cjs', await buildChild(runtime, 'plain'));
await writeFile('dist/libs/runtime/child-vm2.cjs', await buildChild(runtime, 'vm2'));
