import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { lastReleaseMissing } from '#test/faults/last-release.js';
import { ROOT } from '#test/harness/paths.js';

const missing = await lastReleaseMissing();

/** `npm run upgrade:roles` runs all roles of both releases. Here members of both share the lanes of one group. */
describe('members of the last release and of this one in one group, on three brokers', () => {
  const run = missing === undefined ? it : it.skip;
  run(
    `never work on one lane at once, and lose nothing${missing === undefined ? '' : ` (not run: ${missing})`}`,
    async () => {
      const command = [join(ROOT, 'dist/test/faults/upgrade-roles.js'), '--only', 'groups'];
      const { stdout } = await promisify(execFile)(process.execPath, command);
      expect(stdout).toContain('nothing lost');
    },
    600_000,
  );
});
