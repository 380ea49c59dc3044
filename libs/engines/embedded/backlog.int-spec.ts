import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { BACKLOG, writeBacklog } from '../conformance/backlog-reader.js';
import { openEngines } from './testing/open-engines.js';

const PATIENCE_MS = 900_000;
const child = fileURLToPath(new URL('../../../dist/libs/engines/embedded/testing/read-backlog.js', import.meta.url));
const dataDir = tempDir('backlog');
afterAll(() => removeDir(dataDir));

const reader = (...args: readonly string[]) =>
  spawnSync(process.execPath, ['--max-old-space-size=256', child, dataDir, ...args], { encoding: 'utf8' });

describe('a backlog of 300 lanes with 3 MB each', () => {
  it(
    'is worked off with 256 MB of heap, while 40 lanes are stuck; without a limit it is not (control)',
    async () => {
      const engines = await openEngines(dataDir);
      await writeBacklog(engines.log, BACKLOG);
      await engines.close();

      const unlimited = reader('unlimited', String(Number.MAX_SAFE_INTEGER));
      expect(unlimited.stderr).toContain('heap out of memory');
      const { status, stdout, stderr } = reader('limited');
      expect({ status, stdout, stderr }).toEqual({
        status: 0,
        stdout: `${BACKLOG.lanes * BACKLOG.records}\n`,
        stderr: '',
      });
    },
    PATIENCE_MS,
  );
});
