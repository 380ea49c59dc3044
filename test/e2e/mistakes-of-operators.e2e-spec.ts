import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from '@jest/globals';
import { Database } from '#libs/engines/embedded/writer/sqlite-driver.js';
import { Server } from '#test/harness/server.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { ROOT } from '#test/harness/paths.js';
import { defineMistakes, type Mistake } from './mistakes/mistake.js';

const STARTS = 'apps/standalone/src/main.js';
const CLI = 'apps/cli/src/main.js';
const ROUTER = 'apps/router/src/main.js';
const API_KEY = 'a-key-of-these-tests-0123456789';
const NOBODY = 65534;
/** A stopped installation, its archive, and a folder for other files. */
let installation: Server;
let archive = '';
let scratch = '';

beforeAll(async () => {
  scratch = tempDir('mistakes');
  // Another user must be able to reach the folders within.
  chmodSync(scratch, 0o755);
  installation = new Server({ dataDir: join(scratch, 'installation') });
  await installation.start();
  await installation.stop();
  archive = join(scratch, 'exported');
  await succeeding(CLI, ['export', '--out', archive], { SLUICE_DATA_DIR: installation.dataDir });
}, 120_000);

afterAll(async () => {
  await installation.close();
  removeDir(scratch);
});

interface Way {
  readonly cwd?: string;
  /** Flags of Node. */
  readonly flags?: readonly string[];
  readonly asNobody?: boolean;
}

/** Runs a program, and returns its status with its output. */
const run = async (
  program: string,
  args: readonly string[],
  env: Env,
  { cwd = scratch, flags = [], asNobody = false }: Way = {},
): Promise<{ readonly status: number | null; readonly said: string }> => {
  const user = asNobody && process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : undefined;
  const child = spawn(process.execPath, [...flags, join(ROOT, 'dist', program), ...args], {
    cwd,
    ...user,
    env: { PATH: process.env.PATH ?? '', SLUICE_PORT: '0', SLUICE_API_KEY: API_KEY, SLUICE_LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 25_000,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, said };
};

const failing = async (program: string, args: readonly string[], env: Env, way?: Way): Promise<string> => {
  const { status, said } = await run(program, args, env, way);
  if (status === 0 || status === null) throw new Error(`${program} ended with ${status}: ${said}`);
  return said;
};

const succeeding = async (program: string, args: readonly string[], env: Env): Promise<string> => {
  const { status, said } = await run(program, args, env);
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${said}`);
  return said;
};

type Env = Readonly<Record<string, string>>;
/** Read when the row runs, because the folders are made after the table. */
type Late<T> = T | (() => T);
const now = <T extends object>(value: Late<T>): T => (typeof value === 'function' ? value() : value);

const start = (mistake: string, env: Late<Env>, way?: Late<Way>): Mistake => ({
  mistake,
  reads: () =>
    failing(STARTS, [], { SLUICE_DATA_DIR: join(scratch, 'new'), ...now(env) }, way === undefined ? {} : now(way)),
});

const sluice = (mistake: string, args: Late<readonly string[]>, env: Late<Env> = {}): Mistake => ({
  mistake,
  reads: () => failing(CLI, now(args), { SLUICE_DATA_DIR: installation.dataDir, ...now(env) }),
});

const role = (mistake: string, env: Env): Mistake => ({
  mistake,
  reads: () => failing(ROUTER, [], { SLUICE_ENGINE: 'distributed', SLUICE_DATA_DIR: join(scratch, 'role'), ...env }),
});

/** A command while a server runs on the same folder. */
const besideServer = (mistake: string, program: string, args: readonly string[]): Mistake => ({
  mistake,
  reads: async () => {
    await installation.start();
    try {
      return await failing(program, args, { SLUICE_DATA_DIR: installation.dataDir });
    } finally {
      await installation.stop();
    }
  },
});

/** The lines about a setting, from a server that starts nevertheless. */
const warnedOf = async (name: string, value: string): Promise<string> => {
  const server = new Server({ dataDir: join(scratch, 'misspelt'), env: { [name]: value } });
  try {
    await server.start();
    const lines = server.lastOutput.split('\n').filter((line) => line.includes(name));
    return lines.map((line) => (JSON.parse(line) as { msg: string }).msg).join('\n');
  } finally {
    await server.close();
  }
};

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

/** An empty folder of the user `nobody`. */
const folderOf = (name: string, mode: number): string => {
  const folder = join(scratch, name);
  mkdirSync(folder, { recursive: true });
  if (process.getuid?.() === 0) chownSync(folder, NOBODY, NOBODY);
  chmodSync(folder, mode);
  return folder;
};

/** A folder of that user, with a file that a restore has left to another. */
const databaseWithoutRights = (): string => {
  const folder = folderOf('restored', 0o700);
  writeFileSync(join(folder, 'lock.db'), '', { mode: 0o600 });
  chmodSync(join(folder, 'lock.db'), 0);
  return folder;
};

/** A copy of the archive, one file of which is spoilt. */
const spoiltArchive = (how: string, spoil: (content: Buffer) => Buffer | undefined): string => {
  const folder = join(scratch, how);
  cpSync(archive, folder, { recursive: true });
  const path = join(folder, 'events.ndjson.gz');
  const content = spoil(readFileSync(path));
  if (content === undefined) rmSync(path);
  else writeFileSync(path, content);
  return folder;
};

const changed = (content: Buffer): Buffer => {
  const at = content.length >> 1;
  content.writeUInt8(content.readUInt8(at) ^ 1, at);
  return content;
};

/** A new installation with the secret key of the one that was exported. */
const target = (): Env => ({
  SLUICE_DATA_DIR: join(scratch, 'imported'),
  SLUICE_SECRET_KEY: readFileSync(join(installation.dataDir, 'secret.key'), 'utf8').trim(),
});

const imports = (mistake: string, folder: () => string): Mistake => ({
  mistake,
  reads: async () =>
    (await failing(CLI, ['import', '--in', folder()], target())).replace(/\d+ of \d+ bytes/, '<n> of <m> bytes'),
});

const settings: readonly Mistake[] = [
  start('a port that is a word', { SLUICE_PORT: 'http' }),
  start('a port beyond 65535', { SLUICE_PORT: '70000' }),
  start('an address of another machine', { SLUICE_PORT: '1', SLUICE_HOST: '192.0.2.1' }),
  start('a host name that there is not', { SLUICE_HOST: 'no-such-host.invalid' }),
  { mistake: 'a setting that there is not', reads: () => warnedOf('SLUICE_PROT', '3000') },
  {
    mistake: 'a setting that there is not, given to a command',
    reads: async () => {
      const said = await succeeding(CLI, ['config'], { SLUICE_PROT: '3000' });
      return said
        .split('\n')
        .filter((line) => line.includes('SLUICE_PROT'))
        .join('\n');
    },
  },
  start('a short API key', { SLUICE_API_KEY: 'key' }),
  start('a secret key of the wrong length', { SLUICE_SECRET_KEY: 'abc' }),
  start('a log level that there is not', { SLUICE_LOG_LEVEL: 'verbose' }),
  start('an engine that there is not', { SLUICE_ENGINE: 'postgres' }),
  start('the distributed engine without its addresses', { SLUICE_ENGINE: 'distributed' }),
  role('a role without the addresses of its engines', {}),
  role('a role with addresses of engines that are none', {
    SLUICE_PUBLIC_URL: 'http://localhost:3000',
    SLUICE_MONGO_URL: 'localhost:27017',
    SLUICE_KAFKA_BROKERS: 'localhost',
    SLUICE_EVENTSTORE_URL: 'http://localhost:2113',
  }),
  start('an isolation level that there is not', { SLUICE_ISOLATION: 'docker' }),
  start('a public URL without a scheme', { SLUICE_PUBLIC_URL: 'sluice.example.com' }),
  start('a CIDR range that is none', { SLUICE_EGRESS_ALLOW: '10.0.0.0/64' }),
  start('a host name among the addresses', { SLUICE_EGRESS_ALLOW: 'localhost' }),
  start('a word for true or false', { SLUICE_NPM_OFFLINE: 'ja' }),
  start('a unit in a number', { SLUICE_MEMORY_MB: '512MB' }),
  start('a time beyond its limit', { SLUICE_RUN_TIMEOUT_S: '3600' }),
  start('a unit that is not that of the setting', { SLUICE_MEMORY_MB: '1GB' }),
  start('two mistakes at once', { SLUICE_PORT: 'http', SLUICE_MEMORY_MB: '512MB' }),
  start('a wrong line in ./.env', {}, () => {
    mkdirSync(join(scratch, 'env'), { recursive: true });
    fileOf('env/.env', 'SLUICE_HOST=127.0.0.1\nSLUICE_PORT: 3000\n');
    return { cwd: join(scratch, 'env') };
  }),
  start('a quotation mark without an end in ./.env', {}, () => {
    mkdirSync(join(scratch, 'quoted'), { recursive: true });
    fileOf('quoted/.env', 'SLUICE_HOST="127.0.0.1\n');
    return { cwd: join(scratch, 'quoted') };
  }),
  {
    mistake: 'a Node.js that is too old',
    reads: async () => {
      const old = fileOf('old.cjs', `Object.defineProperty(process.versions, 'node', { value: '18.20.8' });`);
      return (await failing(STARTS, [], {}, { flags: ['--require', old] })).replace(process.execPath, '<node>');
    },
  },
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
  besideServer('a second server on the same folder', STARTS, []),
  start('a data directory in /proc', { SLUICE_DATA_DIR: '/proc/sluice' }),
  start('a data directory that another user may not open', () => ({ SLUICE_DATA_DIR: folderOf('closed', 0) }), {
    asNobody: true,
  }),
  start('a data directory without the right to write', () => ({ SLUICE_DATA_DIR: folderOf('read-only', 0o500) }), {
    asNobody: true,
  }),
  start('a database file of another user', () => ({ SLUICE_DATA_DIR: databaseWithoutRights() }), { asNobody: true }),
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
  start('events.db is another database', () => ({
    SLUICE_DATA_DIR: spoilt('events.db', 'exchanged', (path) => cpSync(join(installation.dataDir, 'read.db'), path)),
  })),
  start('data.db was written by another version', () => ({
    SLUICE_DATA_DIR: spoilt('data.db', 'another', (path) => {
      const db = new Database(path);
      db.exec('PRAGMA user_version = 99');
      db.close();
    }),
  })),
];

const commands: readonly Mistake[] = [
  sluice('a command that there is not', ['exprot']),
  sluice('an option that there is not', ['rebuild', '--fast']),
  sluice('export without a place', ['export']),
  sluice('export with the folder as an argument', ['export', 'archive']),
  sluice('export into a folder in /proc', ['export', '--out', '/proc/archive']),
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
  sluice('import with the folder as an argument', ['import', 'archive']),
  {
    mistake: 'import into an installation that is there',
    reads: async () => {
      const said = await failing(CLI, ['import', '--in', archive], { SLUICE_DATA_DIR: installation.dataDir });
      return said.slice(said.indexOf('sluice:')).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, '<time>');
    },
  },
  imports('import of an archive with a changed byte', () => spoiltArchive('changed', changed)),
  imports('import of an archive that is cut off', () =>
    spoiltArchive('cut', (content) => content.subarray(0, content.length >> 1)),
  ),
  imports('import of an archive that lacks a file', () => spoiltArchive('lacking', () => undefined)),
  sluice(
    'import with the secret key of another installation',
    () => ['import', '--in', archive],
    () => ({ ...target(), SLUICE_SECRET_KEY: '0'.repeat(64) }),
  ),
  sluice('rebuild of a read model that there is not', ['rebuild', 'sources']),
  sluice('user without a name', ['user']),
  sluice('user without an email', ['user', 'ada']),
  sluice('user with --mail for --email', ['user', 'ada', '--mail', 'ada@example.com']),
  sluice('user with a name of blanks', ['user', 'ada l', '--email', 'ada@example.com']),
  sluice('user with an email that is none', ['user', 'ada', '--email', 'ada']),
  sluice('user that is there', ['user', 'owner', '--email', 'owner@example.com']),
  sluice('user with the email of another', ['user', 'ada', '--email', 'owner@localhost']),
  {
    mistake: 'user where nothing separates workspaces',
    reads: async () => {
      const env = { SLUICE_DATA_DIR: installation.dataDir, SLUICE_ISOLATION: 'auto', PATH: scratch };
      const said = await failing(CLI, ['user', 'ada', '--email', 'ada@example.com'], env);
      return said.replace(/\(.*\): install/, '(<reasons>): install');
    },
  },
  sluice('key without a command', ['key']),
  sluice('a command of key that there is not', ['key', 'revok']),
  sluice('key issue without a user', ['key', 'issue']),
  sluice('key issue for a user that there is not', ['key', 'issue', '--user', 'ownr']),
  sluice('key list of a user that there is not', ['key', 'list', '--user', 'ada']),
  sluice('key revoke without a key', ['key', 'revoke']),
  sluice('key revoke of a key that there is not', ['key', 'revoke', 'key_1']),
  sluice('admin without a command', ['admin']),
  sluice('admin user create without an email', ['admin', 'user', 'create']),
  sluice('admin user create with the email of another', ['admin', 'user', 'create', '--email', 'owner@localhost']),
  sluice('admin workspace create for a user that there is not', () => [
    ...['admin', 'workspace', 'create', '--name', 'Lab', '--owner', 'ownr'],
  ]),
  sluice('admin workspace rename of a workspace that there is not', () => [
    ...['admin', 'workspace', 'rename', '--workspace', 'Lab', '--name', 'Research'],
  ]),
  sluice('admin member add with a role that there is not', () => [
    ...['admin', 'member', 'add', '--workspace', 'My workspace', '--email', 'owner', '--role', 'admin'],
  ]),
  sluice('admin member remove of a user that there is not', () => [
    ...['admin', 'member', 'remove', '--workspace', 'My workspace', '--email', 'ownr'],
  ]),
  sluice('admin key issue with a time without a unit', () => [
    ...['admin', 'key', 'issue', '--user', 'owner', '--expires-in', '30'],
  ]),
  sluice('rotate-key with the same key', ['rotate-key'], {
    SLUICE_SECRET_KEY: '0'.repeat(64),
    SLUICE_SECRET_KEY_PREVIOUS: '0'.repeat(64),
  }),
  sluice('rotate-key without the new key', ['rotate-key'], { SLUICE_SECRET_KEY_PREVIOUS: '0'.repeat(64) }),
  sluice('rotate-key without the former key', ['rotate-key'], { SLUICE_SECRET_KEY: '0'.repeat(64) }),
  sluice('rotate-key with a wrong former key', ['rotate-key'], {
    SLUICE_SECRET_KEY: '0'.repeat(64),
    SLUICE_SECRET_KEY_PREVIOUS: '1'.repeat(64),
  }),
  besideServer('rotate-key beside the running server', CLI, ['rotate-key']),
  sluice('a setting with a mistake', ['rebuild'], { SLUICE_PORT: 'http' }),
  besideServer('rebuild beside the running server', CLI, ['rebuild']),
  sluice('verify of a folder that there is not', ['verify', '/nonexistent']),
  sluice('verify of a folder without an installation', () => ['verify', scratch]),
  sluice('verify without the secret key', () => ['verify', spoilt('secret.key', 'missing', (path) => rmSync(path))]),
  sluice('verify with the secret key of another installation', ['verify'], { SLUICE_SECRET_KEY: '0'.repeat(64) }),
  sluice('verify without data.db', () => ['verify', spoilt('data.db', 'missing', (path) => rmSync(path))]),
  besideServer('verify beside the running server', CLI, ['verify']),
];

describe('settings', () => defineMistakes('Settings', settings));
describe('folders and ports', () => defineMistakes('Folders and ports', folders));
describe('commands', () => defineMistakes('Commands', commands));
