import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { BACKLOG, writeBacklog } from '../conformance/backlog-reader.js';
import { worldForEach } from './testing/kafka-world.js';
import { testBrokers } from './testing/test-brokers.js';

const PATIENCE_MS = 900_000;
const child = fileURLToPath(new URL('../../../dist/libs/engines/kafka/testing/read-backlog.js', import.meta.url));
const world = worldForEach();

describe('a backlog of 300 lanes with 3 MB each', () => {
  it(
    'is worked off with 256 MB of heap, while 40 lanes are stuck',
    async () => {
      const log = await world().open();
      await writeBacklog(log, BACKLOG);
      const args = ['--max-old-space-size=256', child, testBrokers().join(','), world().prefix, 'g'];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      expect(stdout).toBe(`${BACKLOG.lanes * BACKLOG.records}\n`);
    },
    PATIENCE_MS,
  );
});
