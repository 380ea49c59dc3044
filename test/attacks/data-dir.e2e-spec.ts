import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { relayCode } from '#test/harness/component-code.js';
import { useStandalone } from '#test/harness/instance.js';
import { ROOT } from '#test/harness/paths.js';
import { tempDir, removeDir } from '#test/harness/temp-dir.js';

const instance = useStandalone();
const { server } = instance;
const run = promisify(execFile);

/** Paths to which group or others have any access. */
const openIn = (folder: string): string[] =>
  [folder, ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))].filter(
    (path) => (statSync(path).mode & 0o077) !== 0,
  );

const OTHER_USER = 65_534;
const isRoot = process.getuid?.() === 0;
/** Tries to read a file as another user of the machine. Returns its length or the error code. */
const readByOther = async (file: string): Promise<string> => {
  const script = `try { process.stdout.write(String(require('fs').readFileSync(${JSON.stringify(file)}).length)) } catch (e) { process.stdout.write(e.code) }`;
  return (await run(process.execPath, ['-e', script], { uid: OTHER_USER, gid: OTHER_USER, cwd: '/' })).stdout;
};

describe('the data directory', () => {
  it('is closed to other users, including all files of a deployment and its events', async () => {
    const source = await instance.deploy(relayCode());
    await instance.post(source, { n: 1 });
    await instance.history(source, 1);
    const control = join(tempDir('control'), 'file');
    writeFileSync(control, 'x');
    expect((statSync(control).mode & 0o077) !== 0).toBe(true);
    removeDir(join(control, '..'));
    expect(readdirSync(server.dataDir).length).toBeGreaterThan(5);
    expect(openIn(server.dataDir)).toEqual([]);
  });

  it('that was open is closed at the next start, with one log line', async () => {
    await server.stop();
    const key = join(server.dataDir, 'secret.key');
    for (const path of [server.dataDir, join(server.dataDir, 'blobs')]) chmodSync(path, 0o755);
    for (const name of ['secret.key', 'events.db', 'data.db']) chmodSync(join(server.dataDir, name), 0o644);
    if (isRoot) expect(await readByOther(key)).toBe('45');
    await server.start();
    expect(openIn(server.dataDir)).toEqual([]);
    if (isRoot) expect(await readByOther(key)).toBe('EACCES');
    expect(server.lastOutput.match(/closed now: /g)).toHaveLength(1);
    expect(server.lastOutput).toContain(`${key} (was 644)`);
  });

  // Only root can start a process as another user.
  (isRoot ? it : it.skip).each([
    [0o777, /SLUICE_DATA_DIR: .* cannot be closed by user 65534/],
    [0o755, /the user of the server may not use it.*SLUICE_DATA_DIR/],
  ])('that is open and belongs to another user is refused at start: mode %o', async (mode, said) => {
    const dataDir = tempDir('of-root');
    writeFileSync(join(dataDir, 'server.json'), '{}');
    mkdirSync(join(dataDir, 'blobs'));
    chmodSync(dataDir, mode);
    try {
      const env = {
        PATH: process.env.PATH ?? '',
        SLUICE_DATA_DIR: dataDir,
        SLUICE_PORT: '0',
        SLUICE_HOST: '127.0.0.1',
      };
      const started = run(process.execPath, [join(ROOT, 'dist/apps/standalone/src/main.js')], {
        env,
        cwd: '/',
        timeout: 20_000,
        uid: OTHER_USER,
        gid: OTHER_USER,
      });
      await expect(started).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringMatching(said),
      });
      expect(statSync(dataDir).mode & 0o777).toBe(mode);
    } finally {
      removeDir(dataDir);
    }
  });
});
