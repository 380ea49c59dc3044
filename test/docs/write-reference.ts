import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '#test/harness/paths.js';
import { compatibilityMatrix } from '#test/components/compatibility-matrix.js';
import { commandLineReference } from './command-line-reference.js';
import { metricsReference } from './metrics-reference.js';

// npm run docs:reference
writeFileSync(join(ROOT, 'docs/reference/command-line.md'), await commandLineReference());
writeFileSync(join(ROOT, 'docs/reference/metrics.md'), metricsReference());
writeFileSync(join(ROOT, 'docs/reference/compatibility-matrix.md'), await compatibilityMatrix());
