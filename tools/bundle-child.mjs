// Completes `tsc`: bundles each process that runs in a jail into the one file that is mounted there.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildChild } from '../dist/libs/runtime/child-build.js';

const runtime = path.resolve('libs/runtime');
await writeFile('dist/libs/runtime/child.cjs', await buildChild(runtime, 'plain'));
await writeFile('dist/libs/runtime/build-child.cjs', await buildChild(runtime, 'build'));
await writeFile('dist/libs/runtime/child-vm2.cjs', await buildChild(runtime, 'vm2'));
