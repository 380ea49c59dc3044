import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { useInstance } from '#test/harness/instance.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { inTerminal, textOn } from '#test/harness/terminal.js';

const { server } = useInstance();
const dir = tempDir('login');
afterAll(() => removeDir(dir));
const file = join(dir, 'settings', 'sluice', 'config.json');
const envFile = join(dir, '.env');
beforeEach(() => {
  rmSync(dirname(file), { recursive: true, force: true });
  rmSync(envFile, { force: true });
});

type Variables = Readonly<Record<string, string>>;
const variables = (more: Variables = {}) => ({
  PATH: process.env.PATH ?? '',
  HOME: dir,
  XDG_CONFIG_HOME: join(dir, 'settings'),
  ...more,
});
const sluice = (args: readonly string[], more?: Variables): Promise<Told> =>
  runNode([CLI, ...args], variables(more), dir);
const withInput = (input: string, ...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    input,
    env: variables(),
    cwd: dir,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
};
const loggedIn = (...more: readonly string[]) => withInput(`${server.apiKey}\n`, 'login', '--url', server.url, ...more);
const kept = (): unknown => JSON.parse(readFileSync(file, 'utf8'));
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** The numbers are those of the checks of the command line. */
describe('sluice login', () => {
  const greeting = (profile: string): RegExp =>
    new RegExp(
      `^Logged in to ${server.url} as owner \\(owner@localhost\\), workspace My workspace \\(o_\\w+\\), profile ${profile}\\.\n$`,
    );

  it('8: takes the key from a pipe, keeps it for its user only, and prints it nowhere', async () => {
    const { status, stdout, stderr } = loggedIn();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(greeting('default'));
    expect([modeOf(file), modeOf(dirname(file))]).toEqual(['600', '700']);
    expect(kept()).toMatchObject({
      current: 'default',
      profiles: { default: { url: server.url, api_key: server.apiKey } },
    });
    expect((await sluice(['whoami'])).stdout).toBe(stdout);
    const { data } = JSON.parse((await sluice(['whoami', '--json'])).stdout) as { data: Record<string, unknown> };
    expect(data).toEqual({
      url: server.url,
      profile: 'default',
      user: { id: expect.stringMatching(/^u_/), username: 'owner', email: 'owner@localhost' },
      workspace: { id: expect.stringMatching(/^o_/), name: 'My workspace' },
      api_key: { id: expect.stringMatching(/^key_/), name: 'given at start' },
    });
    const out = await sluice(['logout']);
    expect(out.stdout).toMatch(
      new RegExp(
        `^Logged out of ${server.url}, profile default\\. Its key is valid until "sluice keys revoke key_\\w+"\\.\n$`,
      ),
    );
    expect(kept()).toEqual({ current: null, profiles: {} });
    expect((await sluice(['logout'])).status).toBe(2);
  });

  it('9: shows nothing of a key that is typed', async () => {
    const { status, shown } = await inTerminal(
      ['login'],
      [
        { to: /Server/, type: `${'\u007f'.repeat(60)}${server.url}\r` },
        { to: /API key for/, type: `${server.apiKey}\r` },
      ],
      { env: variables(), cwd: dir },
    );
    expect(textOn(shown)).toContain(`Logged in to ${server.url} as owner`);
    expect(shown).not.toContain(server.apiKey);
    expect(shown).not.toContain(server.apiKey.slice(0, 8));
    expect(status).toBe(0);
  }, 90_000);

  it('10: closes a file that others could read, with one warning', async () => {
    loggedIn();
    chmodSync(file, 0o644);
    const { status, stderr } = await sluice(['whoami']);
    expect(status).toBe(0);
    expect(stderr).toMatch(
      /^warning: \S+config\.json holds API keys and other users could use it \(mode 0644\)[^\n]*\n$/,
    );
    expect(modeOf(file)).toBe('600');
    expect((await sluice(['whoami'])).stderr).toBe('');
  });

  it('11: sends the key of a profile to no other server', async () => {
    loggedIn();
    let requests = 0;
    const other = createServer((_, response) => {
      requests += 1;
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await new Promise((listening) => other.once('listening', listening));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const told = await sluice(['whoami', '--url', url]);
    other.close();
    expect(told).toMatchObject({ status: 2, stdout: '' });
    expect(told.stderr).toContain(
      `the key of profile default is for ${server.url}, not for ${url}: log in there first`,
    );
    expect(requests).toBe(0);
  });

  it('12: uses a key of ./.env at the server of ./.env only', async () => {
    loggedIn();
    writeFileSync(envFile, `SLUICE_API_KEY=${server.apiKey}\n`);
    const elsewhere = await sluice(['whoami', '--json']);
    // Nothing of Sluice listens there while tests run, or it does not know the key.
    expect(elsewhere.status).not.toBe(0);
    expect(elsewhere.stderr).not.toContain(server.url);
    writeFileSync(envFile, `SLUICE_API_KEY=${server.apiKey}\nSLUICE_URL=${server.url}\n`);
    expect((await sluice(['whoami'])).stdout).toContain('key of SLUICE_API_KEY.');
    writeFileSync(envFile, `SLUICE_API_KEY=${server.apiKey}\nSLUICE_URL=http://sluice.invalid\n`);
    const told = await sluice(['whoami']);
    expect(told).toMatchObject({ status: 2, stdout: '' });
    expect(told.stderr).toBe(
      'sluice: ./.env names the server http://sluice.invalid: add --url http://sluice.invalid to use it\n',
    );
  });

  it('12: asks once a folder about a server elsewhere that ./.env names', async () => {
    writeFileSync(envFile, `SLUICE_API_KEY=${server.apiKey}\nSLUICE_URL=http://sluice.invalid\n`);
    const answers = (type: string) => [{ to: /\[y\/N\]/, type }];
    const options = { env: variables(), cwd: dir };
    expect(await inTerminal(['whoami'], answers('\r'), options)).toMatchObject({ status: 2 });
    expect(await inTerminal(['whoami'], answers('\u0003'), options)).toMatchObject({ status: 130 });
    const confirmed = await inTerminal(['whoami'], answers('y\r'), options);
    expect(textOn(confirmed.shown)).toContain('no server answers at http://sluice.invalid');
    expect(await sluice(['whoami'])).toMatchObject({ status: 7 });
    writeFileSync(envFile, `SLUICE_API_KEY=${server.apiKey}\nSLUICE_URL=http://other.invalid\n`);
    expect(await sluice(['whoami'])).toMatchObject({ status: 2 });
  }, 120_000);

  it('13: takes the key of the environment before the current profile, and -p before both', async () => {
    loggedIn('-p', 'mine');
    const other = { SLUICE_API_KEY: 'sk_of-somebody-else', SLUICE_URL: server.url };
    const refused = await sluice(['whoami', '--json'], other);
    expect(refused).toMatchObject({ status: 3, stdout: '' });
    expect(JSON.parse(refused.stderr)).toMatchObject({ code: 'unauthorized', status: 401 });
    expect((await sluice(['-p', 'mine', 'whoami'], other)).stdout).toMatch(greeting('mine'));
    expect((await sluice(['whoami', '-p', 'mine'], other)).stdout).toMatch(greeting('mine'));
    expect((await sluice(['whoami'], { SLUICE_PROFILE: 'mine' })).stdout).toMatch(greeting('mine'));
    const none = await sluice(['whoami', '-p', 'yours']);
    expect(none).toMatchObject({ status: 2, stderr: 'sluice: no profile is called "yours" (there are mine)\n' });
  });

  it('6: tells that a key is missing, or wrong', async () => {
    expect(await sluice(['whoami', '--url', server.url])).toEqual({
      status: 3,
      stdout: '',
      stderr: `sluice: no API key for ${server.url}. Run "sluice login", or set SLUICE_API_KEY.\n`,
    });
    expect(withInput('not-a-key-of-this-server', 'login', '--url', server.url)).toMatchObject({
      status: 3,
      stdout: '',
    });
    expect(withInput(' \n', 'login', '--url', server.url).stderr).toBe(
      'sluice: standard input is empty: an API key has 16 to 200 characters without blanks\n',
    );
    expect(() => kept()).toThrow('ENOENT');
  });

  it('7: tells that nothing listens', async () => {
    const startedAt = performance.now();
    const told = await sluice(['whoami', '--json'], {
      SLUICE_API_KEY: server.apiKey,
      SLUICE_URL: 'http://127.0.0.1:1',
    });
    expect(told).toMatchObject({ status: 7, stdout: '' });
    expect(JSON.parse(told.stderr)).toEqual({
      error: expect.stringMatching(
        /^no server answers at http:\/\/127\.0\.0\.1:1 \(.*\)\. Start one with "sluice serve", or name another with --url\.$/,
      ),
      code: 'no_server',
      status: null,
      details: {},
      next: 'sluice serve',
    });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it('names the workspace that it would ask about', async () => {
    const wrong = loggedIn('--workspace', 'Nobody');
    expect(wrong).toMatchObject({ status: 4, stdout: '' });
    expect(wrong.stderr).toMatch(/^sluice: you are in no workspace "Nobody"\. Yours: My workspace \(o_\w+\)\n$/);
    expect(loggedIn('--workspace', 'My workspace').status).toBe(0);
  });
});
