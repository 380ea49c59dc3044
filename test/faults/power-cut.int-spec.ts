import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '#test/harness/paths.js';
import { noCutDisk } from './cut-disk.js';

const reason = noCutDisk();
const whereItCan = reason === undefined ? describe : describe.skip;

whereItCan(reason === undefined ? 'a power cut in the middle of load' : `a power cut (not tested: ${reason})`, () => {
  it('loses no acknowledged event or change, although the disk loses what was not synced', () => {
    const program = join(ROOT, 'dist/test/faults/power-cut.js');
    const run = spawnSync('unshare', ['--mount', process.execPath, program, '--rounds', '3', '--seed', '7'], {
      encoding: 'utf8',
      timeout: 240_000,
    });
    expect(run.stdout + run.stderr).toContain('nothing lost, nothing inconsistent');
    expect(run.status).toBe(0);
    expect(Number(/"acknowledged": (\d+)/.exec(run.stdout)?.[1])).toBeGreaterThan(30);
  }, 260_000);
});
