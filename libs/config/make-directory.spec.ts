import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { makeDirectory } from './make-directory.js';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'sluice-make-'))));
afterEach(() => rmSync(folder, { recursive: true }));

it('makes a folder and those above it for this user alone, and accepts one that is there', () => {
  const path = join(folder, 'a/b/c');
  for (let n = 0; n < 2; n++) makeDirectory(path);
  for (const name of ['a', 'a/b', 'a/b/c']) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o700);
});

it.each([
  ['a file', 'file', 'EEXIST'],
  ['below a file', 'file/data', 'ENOTDIR'],
  ['a link to nothing', 'link', 'EEXIST'],
  ['below a link to nothing', 'link/data', 'EEXIST'],
])('throws the error of the operating system: %s', (_what, name, code) => {
  writeFileSync(join(folder, 'file'), '');
  symlinkSync(join(folder, 'nowhere'), join(folder, 'link'));
  expect(() => makeDirectory(join(folder, name))).toThrow(expect.objectContaining({ code }));
});

// In a process of its own, because the call would never return.
it('ends where a folder exists and nothing can be made in it', async () => {
  const code = `import { makeDirectory } from './dist/libs/config/make-directory.js'; makeDirectory('/proc/sluice/data');`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], { timeout: 20_000 });
  await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('ENOENT') as unknown });
}, 30_000);
