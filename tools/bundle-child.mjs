// Completes `tsc`: bundles each process that runs in a jail into the one file that is mounted there.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildExpressionsChild } from '../dist/libs/expressions/child-code.js';
import { buildFetcher } from '../dist/libs/packages/fetcher-build.js';
import { buildChild } from '../dist/libs/sandbox/child-build.js';

const sandbox = path.resolve('libs/sandbox');
await writeFile('dist/libs/sandbox/child.cjs', await buildChild(sandbox, 'plain'));
await writeFile('dist/libs/sandbox/build-child.cjs', await buildChild(sandbox, 'build'));
await writeFile('dist/libs/sandbox/test-child.cjs', await buildChild(sandbox, 'test'));
await writeFile('dist/libs/sandbox/http-request.cjs', await buildChild(sandbox, 'request'));
await writeFile('dist/libs/sandbox/unpack-child.cjs', await buildChild(sandbox, 'unpack'));
await writeFile('dist/libs/packages/fetcher-child.cjs', await buildFetcher(path.resolve('libs/packages')));
await writeFile(
  'dist/libs/expressions/expressions-child.cjs',
  await buildExpressionsChild(path.resolve('libs/expressions')),
);
