import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from '@jest/globals';
import { Server } from '#test/harness/server.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { ROOT } from '#test/harness/paths.js';
import { defineMistakes, type Mistake } from './mistakes/mistake.js';

const STARTS = 'apps/standalone/src/main.js';
const CLI = 'apps/cli/src/main.js';
const API_KEY = 'a-key-of-these-tests-0123456789';
/** A stopped installation, an empty folder, and the file of an archive that is none. */
let installation: Server;
let scratch = '';

beforeAll(async () => {
  scratch = tempDir('mistakes');
  installation = new Server({ dataDir: join(scratch, 'installation') });
  await installation.start();
  await installation.stop();
}, 120_000);

afterAll(async () => {
  await installation.close();
  removeDir(scratch);
});

/** Runs a program that must fail, and returns what it says. */
const failing = async (
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> => {
  const child = spawn(process.execPath, [join(ROOT, 'dist', program), ...args], {
    cwd: scratch,
    env: { PATH: process.env.PATH ?? '', SLUICE_PORT: '0', SLUICE_API_KEY: API_KEY, SLUICE_LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 25_000,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [status] = (await once(child, 'close')) as [number | null];
  if (status === 0 || status === null) throw new Error(`${program} ended with ${status}: ${said}`);
  return said;
};

type Env = Readonly<Record<string, string>>;

const start = (mistake: string, env: Env | (() => Env | Promise<Env>)): Mistake => ({
  mistake,
  reads: async () =>
    failing(STARTS, [], { SLUICE_DATA_DIR: join(scratch, 'new'), ...(typeof env === 'function' ? await env() : env) }),
});

const sluice = (mistake: string, args: readonly string[] | (() => readonly string[]), env: Env = {}): Mistake => ({
  mistake,
  reads: () =>
    failing(CLI, typeof args === 'function' ? args() : args, { SLUICE_DATA_DIR: installation.dataDir, ...env }),
});

const fileOf = (name: string, content: string): string => {
  const path = join(scratch, name);
  writeFileSync(path, content);
  return path;
};

/** A folder with the files of an installation, one of which is spoilt. */
const spoilt = (file: string, how: string, spoil: (path: string) => void): string => {
  const folder = join(scratch, `${how}-${file}`);
  if (!existsSync(folder)) {
    spawnSync('cp', ['-r', installation.dataDir, folder]);
    spoil(join(folder, file));
  }
  return folder;
};

const settings: readonly Mistake[] = [
  start('a port that is a word', { SLUICE_PORT: 'http' }),
  start('a port beyond 65535', { SLUICE_PORT: '70000' }),
  start('an address of another machine', { SLUICE_PORT: '1', SLUICE_HOST: '192.0.2.1' }),
  start('a host name that there is not', { SLUICE_HOST: 'no-such-host.invalid' }),
  start('a setting that there is not', { SLUICE_PROT: '3000' }),
  start('a short API key', { SLUICE_API_KEY: 'key' }),
  start('a secret key of the wrong length', { SLUICE_SECRET_KEY: 'abc' }),
  start('a log level that there is not', { SLUICE_LOG_LEVEL: 'verbose' }),
  start('an engine that there is not', { SLUICE_ENGINE: 'postgres' }),
  start('the distributed engine without its addresses', { SLUICE_ENGINE: 'distributed' }),
  start('an isolation level that there is not', { SLUICE_ISOLATION: 'docker' }),
  start('a public URL without a scheme', { SLUICE_PUBLIC_URL: 'sluice.example.com' }),
  start('a CIDR range that is none', { SLUICE_EGRESS_ALLOW: '10.0.0.0/64' }),
  start('a host name among the addresses', { SLUICE_EGRESS_ALLOW: 'localhost' }),
  start('a word for true or false', { SLUICE_TIMER_FIRST_TICK: 'ja' }),
  start('a unit in a number', { SLUICE_MEMORY_MB: '512MB' }),
  start('a time beyond its limit', { SLUICE_RUN_TIMEOUT_S: '3600' }),
  start('two mistakes at once', { SLUICE_PORT: 'http', SLUICE_MEMORY_MB: '512MB' }),
];

const folders: readonly Mistake[] = [
  {
    mistake: 'a port in use',
    reads: async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      try {
        const said = await failing(STARTS, [], { SLUICE_DATA_DIR: join(scratch, 'new'), SLUICE_PORT: String(port) });
        return said.replaceAll(String(port), '<port>');
      } finally {
        other.close();
      }
    },
  },
  {
    mistake: 'a second server on the same folder',
    reads: async () => {
      await installation.start();
      try {
        return (await failing(STARTS, [], { SLUICE_DATA_DIR: installation.dataDir })).replaceAll(
          String(installation.pid),
          '<pid>',
        );
      } finally {
        await installation.stop();
      }
    },
  },
  start('a data directory that is a file', () => ({ SLUICE_DATA_DIR: fileOf('file', '') })),
  start('a data directory below a file', () => ({ SLUICE_DATA_DIR: join(fileOf('file', ''), 'data') })),
  start('a data directory of another program', () => {
    mkdirSync(join(scratch, 'other'), { recursive: true });
    fileOf('other/package.json', '{}');
    return { SLUICE_DATA_DIR: join(scratch, 'other') };
  }),
  start('events.db is missing', () => ({ SLUICE_DATA_DIR: spoilt('events.db', 'missing', (path) => rmSync(path)) })),
  start('data.db is missing', () => ({ SLUICE_DATA_DIR: spoilt('data.db', 'missing', (path) => rmSync(path)) })),
  start('secret.key is missing', () => ({ SLUICE_DATA_DIR: spoilt('secret.key', 'missing', (path) => rmSync(path)) })),
  start('secret.key is of another installation', () => ({
    SLUICE_SECRET_KEY: '0'.repeat(64),
    SLUICE_DATA_DIR: installation.dataDir,
  })),
  start('secret.key is cut off', () => ({
    SLUICE_DATA_DIR: spoilt('secret.key', 'cut', (path) => writeFileSync(path, 'abc')),
  })),
  start('events.db is no database', () => ({
    SLUICE_DATA_DIR: spoilt('events.db', 'overwritten', (path) => writeFileSync(path, 'no database')),
  })),
];

const commands: readonly Mistake[] = [
  sluice('no command', []),
  sluice('a command that there is not', ['exprot']),
  sluice('an option that there is not', ['rebuild', '--fast']),
  sluice('export without a place', ['export']),
  sluice('export into a file that is there', () => ['export', '--out', fileOf('there', '')]),
  sluice('export into a folder below a file', () => ['export', '--out', join(fileOf('there', ''), 'archive')]),
  sluice('export into a folder that holds something', () => ['export', '--out', installation.dataDir]),
  sluice('export of a folder without an installation', () => ['export', '--out', join(scratch, 'archive')], {
    SLUICE_DATA_DIR: '/tmp/no-such-installation',
  }),
  sluice('import without a file', ['import']),
  sluice('import of a file that there is not', ['import', '--in', '/nonexistent/archive']),
  sluice('import of what is no archive', () => ['import', '--in', fileOf('text', 'no archive')]),
  sluice('import of a folder without an archive', () => ['import', '--in', scratch], {
    SLUICE_DATA_DIR: '/tmp/sluice-no-such',
  }),
  sluice('import into an installation that is there', () => ['import', '--in', scratch]),
  sluice('rebuild of a read model that there is not', ['rebuild', 'sources']),
  sluice('user without a name', ['user']),
  sluice('user without an email', ['user', 'ada']),
  sluice('user with --mail for --email', ['user', 'ada', '--mail', 'ada@example.com']),
  sluice('user with a name of blanks', ['user', 'ada l', '--email', 'ada@example.com']),
  sluice('user with an email that is none', ['user', 'ada', '--email', 'ada']),
  sluice('user that is there', ['user', 'owner', '--email', 'owner@example.com']),
  sluice('a setting with a mistake', ['rebuild'], { SLUICE_PORT: 'http' }),
  {
    mistake: 'rebuild beside the running server',
    reads: async () => {
      await installation.start();
      try {
        const said = await failing(CLI, ['rebuild'], { SLUICE_DATA_DIR: installation.dataDir });
        return said.replaceAll(String(installation.pid), '<pid>');
      } finally {
        await installation.stop();
      }
    },
  },
];

describe('settings', () => defineMistakes('Settings', settings));
describe('folders and ports', () => defineMistakes('Folders and ports', folders));
describe('commands', () => defineMistakes('Commands', commands));
