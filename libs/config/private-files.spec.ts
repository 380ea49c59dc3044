import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { keepFilesPrivate } from './private-files.js';

let folder: string;
let umask: number;
beforeEach(() => {
  umask = process.umask(0o022);
  folder = mkdtempSync(join(tmpdir(), 'sluice-modes-'));
});
afterEach(() => {
  process.umask(umask);
  rmSync(folder, { recursive: true });
});

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const written = (path: string, mode: number): string => {
  writeFileSync(path, 'x');
  chmodSync(path, mode);
  return path;
};
const keep = (dataDir: string): string[] => {
  const warnings: string[] = [];
  keepFilesPrivate(dataDir, (text) => warnings.push(text));
  return warnings;
};

describe('the files of a process', () => {
  it('are private from then on, including new folders and the data directory', () => {
    const dataDir = join(folder, 'new', 'data');
    expect(modeOf(written(join(folder, 'control'), 0o644))).toBe('644');
    expect(keep(dataDir)).toEqual([]);
    writeFileSync(join(dataDir, 'file'), 'x');
    mkdirSync(join(dataDir, 'folder'));
    expect([dataDir, join(dataDir, 'file'), join(dataDir, 'folder')].map(modeOf)).toEqual(['700', '600', '700']);
  });

  it('with wider modes are closed recursively, with one warning', () => {
    const dataDir = join(folder, 'data');
    mkdirSync(join(dataDir, 'blobs', 'ab'), { recursive: true, mode: 0o755 });
    const files = ['secret.key', 'events.db', 'blobs/ab/cdef'].map((name) => written(join(dataDir, name), 0o644));
    const warnings = keep(dataDir);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(`${dataDir} (was 755)`);
    expect(files.map(modeOf)).toEqual(['600', '600', '600']);
    expect([dataDir, join(dataDir, 'blobs'), join(dataDir, 'blobs', 'ab')].map(modeOf)).toEqual(['700', '700', '700']);
    expect(keep(dataDir)).toEqual([]);
  });

  it('are also closed in a directory that is already closed', () => {
    mkdirSync(join(folder, 'data'), { mode: 0o700 });
    const key = written(join(folder, 'data', 'secret.key'), 0o640);
    expect(keep(join(folder, 'data'))[0]).toContain(`${key} (was 640)`);
    expect(modeOf(key)).toBe('600');
  });

  it('keep the rights of their owner, and links are not followed', () => {
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir, { mode: 0o755 });
    const outside = written(join(folder, 'outside'), 0o644);
    symlinkSync(outside, join(dataDir, 'owner'));
    const run = written(join(dataDir, 'run'), 0o555);
    expect(keep(dataDir)).toHaveLength(1);
    expect([modeOf(outside), modeOf(run)]).toEqual(['644', '500']);
    expect(readFileSync(outside, 'utf8')).toBe('x');
  });

  it('are closed in a folder that holds the registry alone', () => {
    const dataDir = join(folder, 'filled');
    mkdirSync(join(dataDir, 'registry'), { mode: 0o755, recursive: true });
    expect(keep(dataDir)).toHaveLength(1);
  });

  it('are not changed in a folder that other users need, which is refused', () => {
    const shared = join(folder, 'lib');
    mkdirSync(shared, { mode: 0o755 });
    const others = written(join(shared, 'others'), 0o644);
    expect(() => keep(shared)).toThrow(/SLUICE_DATA_DIR: .* holds files that are not Sluice's/);
    const sticky = join(folder, 'tmp');
    mkdirSync(sticky);
    chmodSync(sticky, 0o1777);
    expect(() => keep(sticky)).toThrow(/name a folder within it/);
    expect([modeOf(shared), modeOf(others), modeOf(sticky)]).toEqual(['755', '644', '777']);
    expect(keep(join(sticky, 'sluice'))).toEqual([]);
  });
});
