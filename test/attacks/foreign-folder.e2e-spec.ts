import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';

const folder = tempDir('foreign-folder');
const home = join(folder, 'home');
const kept = join(home, 'kept.txt');
const KEY = 'sk_of-this-user-only';
afterAll(() => removeDir(folder));

let count = 0;
/** A project that somebody else wrote. */
let project = '';
beforeEach(() => {
  project = join(folder, `project${++count}`);
  mkdirSync(project);
  mkdirSync(home, { recursive: true });
  writeFileSync(kept, 'of the user');
  writeFileSync(join(project, 'package.json'), '{}');
  writeFileSync(join(project, 'hello.mjs'), `export default { name: 'hello', async run() {} };`);
});

const sluice = (args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Told> =>
  runNode([CLI, ...args], { PATH: process.env.PATH, HOME: home, ...more }, project);

/** Runs with the address of a server that keeps what it is asked. */
const withServer = async (use: (url: string, asked: readonly string[]) => Promise<void>): Promise<void> => {
  const asked: string[] = [];
  const server: Server = createServer(({ method, url, headers }, response) => {
    asked.push(`${method} ${url} ${headers.authorization}`);
    response.end('{"data":{"id":"u_1","username":"x","email":"x"}}');
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

// docs/reference/command-line.md#files
describe('links of a project that somebody else wrote', () => {
  it('send nothing of the rest of the computer', async () => {
    symlinkSync('/etc/passwd', join(project, 'users.txt'));
    symlinkSync('/etc', join(project, 'etc'));
    symlinkSync('/etc/hostname', join(project, 'entry.mjs'));
    writeFileSync(join(project, 'text.mjs'), `import users from './users.txt';\nexport default { run() {} };`);
    writeFileSync(join(project, 'deep.mjs'), `import name from './etc/hostname';\nexport default { run() {} };`);
    writeFileSync(
      join(project, 'text.test.mjs'),
      `import { test } from 'node:test';
       import { given } from 'sluice/test';
       test('text', async () => void (await given('./text.mjs').when({ event: 1 })));`,
    );
    await withServer(async (url, asked) => {
      const by = { SLUICE_API_KEY: KEY, SLUICE_URL: url };
      for (const args of [
        ['deploy', 'text.mjs'],
        ['deploy', 'deep.mjs'],
        ['deploy', 'entry.mjs'],
        ['publish', 'text.mjs'],
        ['dev', 'text.mjs'],
        ['dev', 'text.mjs', '--own'],
      ]) {
        const { status, stderr } = await sluice(args, by);
        expect({ args, status, stderr }).toMatchObject({
          status: 2,
          stderr: expect.stringContaining('is a symbolic link'),
        });
      }
      expect(asked).toEqual([]);
    });
    const tested = await sluice(['test']);
    expect(tested.status).toBe(1);
    expect(tested.stdout).toContain('is a symbolic link to /etc/passwd');
  }, 120_000);

  it('let nothing be written elsewhere by init', async () => {
    symlinkSync(home, join(project, 'made'));
    mkdirSync(join(project, 'there'));
    symlinkSync(join(home, 'new.txt'), join(project, 'there/there.mjs'));
    for (const args of [['made'], ['made', '--force'], ['there'], ['there', '--force']]) {
      const { status, stderr } = await sluice(['init', 'source', ...args]);
      expect({ args, status, stderr }).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('is a symbolic link'),
      });
    }
    symlinkSync(kept, join(project, 'tsconfig.json'));
    expect((await sluice(['init', 'project', '--force'])).status).toBe(2);
    expect(readdirSync(home)).toEqual(['kept.txt']);
    expect(readFileSync(kept, 'utf8')).toBe('of the user');
  }, 60_000);

  it.each([
    ['.sluice', '..'],
    ['.sluice/dev', '..'],
    ['.sluice/dev.log', '../kept.txt'],
    ['.sluice/dev.key', '../new.txt'],
    ['.sluice/dev/read.db', '../../kept.txt'],
  ])('let nothing be written elsewhere by dev: %s', async (name) => {
    mkdirSync(join(project, name, '..'), { recursive: true });
    symlinkSync(
      /dev\.log|read\.db/.test(name) ? kept : /key/.test(name) ? join(home, 'new.txt') : home,
      join(project, name),
    );
    const { status, stderr } = await sluice(['dev', 'hello.mjs', '--own']);
    expect({ status, stderr }).toMatchObject({ status: 2, stderr: expect.stringContaining('is a symbolic link') });
    expect(readdirSync(home)).toEqual(['kept.txt']);
    expect(readFileSync(kept, 'utf8')).toBe('of the user');
  });
});

// docs/reference/command-line.md#server
describe('settings of a project that somebody else wrote', () => {
  it('choose no file of keys', async () => {
    await withServer(async (url, asked) => {
      const theirs = { current: 'x', profiles: { x: { url, api_key: 'sk_of-somebody-else' } } };
      writeFileSync(join(project, 'keys.json'), JSON.stringify(theirs));
      writeFileSync(join(project, '.env'), 'SLUICE_CONFIG=./keys.json\n');
      expect((await sluice(['whoami'])).status).toBe(3);
      expect(asked).toEqual([]);
    });
  });

  it('do not make another server the own one', async () => {
    await withServer(async (url, asked) => {
      mkdirSync(join(project, '.sluice/dev'), { recursive: true });
      writeFileSync(join(project, '.sluice/dev.key'), 'dev_known');
      // The server of this test stands for one on another computer.
      writeFileSync(join(project, '.sluice/dev/server.json'), JSON.stringify({ url, port: 1, pid: 1 }));
      // It cannot start, so that nothing is left behind.
      const told = await sluice(['dev', 'hello.mjs', '--own'], { SLUICE_ISOLATION: 'nothing' });
      expect(told).toMatchObject({ status: 1, stderr: expect.stringContaining('the own server did not start') });
      expect(asked).toEqual([]);
    });
  }, 60_000);

  it('do not loosen the jail of the own server', async () => {
    // A setting that is used would keep the server from starting.
    writeFileSync(join(project, '.env'), 'SLUICE_ISOLATION=nothing\nSLUICE_EGRESS_ALLOW=nothing\n');
    const told = await sluice(['dev', 'hello.mjs', '--own', '--dc', 'nothing-of-this']);
    expect(told.stderr).not.toContain('did not start');
    expect(told).toMatchObject({ status: 4 });
    expect(existsSync(join(project, '.sluice/dev/server.json'))).toBe(true);
  }, 120_000);

  it('may be a pipe without keeping a command', async () => {
    execFileSync('mkfifo', [join(project, '.env')]);
    await withServer(async (url) => {
      const told = await sluice(['whoami', '--json'], { SLUICE_API_KEY: KEY, SLUICE_URL: url });
      expect([0, 1]).toContain(told.status);
    });
  });
});
