import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Data } from '#test/harness/api-client.js';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { useStandalone } from '#test/harness/instance.js';
import { ROOT } from '#test/harness/paths.js';

const instance = useStandalone();
const { api, server } = instance;
let scratch: string;
beforeAll(() => void (scratch = mkdtempSync(join(tmpdir(), 'sluice-operator-'))));
afterAll(() => rmSync(scratch, { recursive: true }));

const runs = (args: readonly string[], env: NodeJS.ProcessEnv, cwd = scratch): Promise<Told> => runNode(args, env, cwd);
const sluice = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Told> =>
  runs([CLI, ...args], { ...process.env, SLUICE_DATA_DIR: server.dataDir, ...env });

const statusWith = async (key: string): Promise<number> => (await api.call('GET', '/v1/users/me', { key })).status;
describe('sluice key', () => {
  it('is refused beside a running embedded server, naming its pid', async () => {
    const told = await sluice(['key', 'issue', '--user', 'owner']);
    expect(told).toMatchObject({ status: 1, stdout: '' });
    expect(told.stderr).toContain(`in use by the process with pid ${server.pid}`);
  });

  it('issues, lists and revokes keys of any user without a key', async () => {
    await server.stop();
    expect((await sluice(['user', 'ada', '--email', 'Ada@example.com'])).status).toBe(0);

    const issued = await sluice(['key', 'issue', '--user', 'ada@EXAMPLE.com', '--name', 'way back']);
    expect(issued.stdout).toMatch(/^sk_[0-9a-f]{40}\n$/);
    const keyId = /key_\w+/.exec(issued.stderr)?.[0] ?? '';
    const owners = await sluice(['key', 'issue', '--user', 'OWNER']);
    const listed = await sluice(['key', 'list', '--user', 'ada']);
    expect(listed.stdout).toContain(keyId);
    expect(listed.stdout).toMatch(/ada {2,}\S+Z {2}way back\n/);
    expect(listed.stdout).not.toContain('owner');
    expect(listed.stdout + listed.stderr).not.toContain(issued.stdout.trim());

    await server.start();
    const me = await api.expect<Data<{ username: string }>>(200, 'GET', '/v1/users/me', { key: issued.stdout.trim() });
    expect(me.data.username).toBe('ada');
    expect(await statusWith(owners.stdout.trim())).toBe(200);

    await server.stop();
    expect((await sluice(['key', 'revoke', keyId])).stdout).toBe(`key ${keyId} is revoked\n`);
    expect((await sluice(['key', 'revoke', keyId])).stdout).toBe(`key ${keyId} was revoked already\n`);
    await server.start();
    expect(await statusWith(issued.stdout.trim())).toBe(401);
    expect(await statusWith(owners.stdout.trim())).toBe(200);
  }, 120_000);

  it('is the way back for an owner without any key', async () => {
    await server.stop();
    const [first = ''] = (await sluice(['key', 'list', '--user', 'owner'])).stdout.split('\n');
    const [given = ''] = first.split(' ');
    await sluice(['key', 'revoke', given]);
    const { stdout } = await sluice(['key', 'issue', '--user', 'owner', '--name', 'again']);
    await server.start();
    expect(await statusWith(server.apiKey)).toBe(401);
    expect(await statusWith(stdout.trim())).toBe(200);
    // The key of SLUICE_API_KEY stays revoked, so the tests below go on with another one.
    await server.stop();
    server.setting('SLUICE_API_KEY', `${server.apiKey}2`);
    await server.start();
    expect(await statusWith(`${server.apiKey}2`)).toBe(200);
  }, 120_000);

  it.each([
    [['key', 'issue', '--user', 'adda'], /there is no user adda: did you mean ada\?/],
    [['key', 'issue', '--user', 'x@y'], /there is no user x@y: the users are ada, owner/],
    [['key', 'revoke', 'key_nope'], /there is no API key key_nope/],
    [['key', 'issue', '--user', 'ada', '--name', ''], /--name must be 1 to 100 characters/],
  ])('refuses %j with words', async (args, words) => {
    await server.stop();
    const told = await sluice(args);
    expect(told).toMatchObject({ status: 1, stdout: '' });
    expect(told.stderr).toMatch(words);
  });
});

describe('sluice user', () => {
  it('refuses an address that another user has, and names that user', async () => {
    await server.stop();
    const told = await sluice(['user', 'bob', '--email', 'ADA@example.com']);
    expect(told).toMatchObject({ status: 1, stdout: '' });
    expect(told.stderr).toMatch(/email ADA@example.com is the address of user ada: give another address/);
    expect((await sluice(['user', 'bob', '--email', 'bob@example.com'])).status).toBe(0);
  });

  it('refuses a workspace for which the server would not start, and adds nothing', async () => {
    await server.stop();
    // No program that makes a jail is found here.
    const jailless = { SLUICE_ISOLATION: 'auto', PATH: scratch };
    const told = await sluice(['user', 'cleo', '--email', 'cleo@example.com'], jailless);
    expect(told).toMatchObject({ status: 1, stdout: '' });
    expect(told.stderr).toMatch(/isolation level "process" is too weak for 4 workspaces.*install bubblewrap/);
    expect((await sluice(['key', 'issue', '--user', 'cleo'])).stderr).toContain('there is no user cleo');
    const trusted = { SLUICE_ISOLATION: 'process', PATH: scratch };
    expect((await sluice(['user', 'cleo', '--email', 'cleo@example.com'], trusted)).status).toBe(0);
  }, 120_000);
});

describe('a command on the distributed engines', () => {
  const distributed = {
    SLUICE_ENGINE: 'distributed',
    SLUICE_EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
    SLUICE_MONGO_URL: 'mongodb://127.0.0.1:1/sluice',
    SLUICE_KAFKA_BROKERS: '127.0.0.1:1',
    SLUICE_SECRET_KEY: 'ab'.repeat(32),
  };
  const inFolder = (env: NodeJS.ProcessEnv): Promise<Told> =>
    sluice(['key', 'list'], { ...env, SLUICE_DATA_DIR: mkdtempSync(join(scratch, 'role-')) });

  it('names every missing setting', async () => {
    const { status, stdout, stderr } = await inFolder({ SLUICE_ENGINE: 'distributed' });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    for (const name of ['EVENTSTORE_URL', 'MONGO_URL', 'KAFKA_BROKERS', 'SECRET_KEY']) {
      expect(stderr).toContain(`SLUICE_${name} is not given, and SLUICE_ENGINE=distributed needs it; allowed: `);
    }
  });

  it('names the setting of an engine that does not answer, in one line without a stack', async () => {
    const { status, stdout, stderr } = await inFolder(distributed);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(
      /\nsluice: (EventStoreDB|MongoDB|Kafka) cannot be reached at the address in SLUICE_\w+: [^\n]*\. Start it, or correct SLUICE_\w+\n$/,
    );
    expect(stderr).not.toMatch(/\n {4}at /);
  });
});

describe('a weak SLUICE_API_KEY', () => {
  it('is warned about in one line at start, and not shown', async () => {
    await server.stop();
    const key = server.settings['SLUICE_API_KEY'] ?? '';
    server.setting('SLUICE_API_KEY', 'changeme-changeme');
    server.setting('SLUICE_PUBLIC_URL', 'https://sluice.example.com');
    await server.start();
    const told = server.lastOutput.split('\n').filter((line) => line.includes('easy to guess'));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain('SLUICE_API_KEY is easy to guess');
    expect(server.lastOutput).not.toContain('changeme-changeme');
    await server.stop();
    server.setting('SLUICE_API_KEY', key);
  });
});

describe('the start of a program', () => {
  it.each(['cli', 'standalone', 'runner'])('says which Node it needs, in one line before all else: %s', async (app) => {
    const old = join(scratch, 'old-node.cjs');
    writeFileSync(old, `Object.defineProperty(process.versions, 'node', { value: '18.20.8' });`);
    const told = await runs(['--require', old, join(ROOT, 'dist/apps', app, 'src/main.js')], process.env);
    expect(told).toMatchObject({ status: 1, stdout: '' });
    expect(told.stderr).toMatch(
      /^sluice[^\n]* cannot start: it needs Node.js 20.19, 22.13, 24 or later, and [^\n]* is Node.js 18.20.8[^\n]*\n$/,
    );
  });

  it('takes settings from ./.env unless the environment has them, and names a wrong line', async () => {
    const folder = mkdtempSync(join(scratch, 'env-'));
    const config = (env: NodeJS.ProcessEnv = {}): Promise<Told> =>
      runs([CLI, 'config'], { PATH: process.env.PATH, ...env }, folder);
    writeFileSync(join(folder, '.env'), 'SLUICE_PORT=4567\nSLUICE_HOST="::1"\n');
    expect((await config()).stdout).toMatch(/SLUICE_PORT=4567\n[^]*SLUICE_HOST=::1\n/);
    expect((await config({ SLUICE_PORT: '4568' })).stdout).toContain('SLUICE_PORT=4568\n');
    writeFileSync(join(folder, '.env'), 'SLUICE_HEAP_MB=300\n');
    expect((await config()).stdout).toContain('SLUICE_HEAP_MB=1920  (default; 300 in .env has no effect)\n');
    expect((await config({ SLUICE_HEAP_MB: '301' })).stdout).toContain('SLUICE_HEAP_MB=301\n');
    writeFileSync(join(folder, '.env'), 'SLUICE_PORT=4567\nSLUICE_API_KEY hush\n');
    const { status, stdout, stderr } = await config();
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^sluice cannot start: \S+\.env, line 2: it is not NAME=value\. [^\n]*\n$/);
    expect(stderr).not.toContain('hush');
  });
});
