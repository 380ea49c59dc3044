import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { endsWithUs } from '#test/harness/ends-with-us.js';
import { tarballOf } from '#test/harness/npm-registry.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { eventually } from '#test/harness/wait.js';

const PROGRAM = fileURLToPath(new URL('../../dist/libs/packages/testing/installing-process.js', import.meta.url));
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'] as const;
/** Each package has many files, so that unpacking and copying take a while. */
const FILES = 200;

const textOf = (name: string): string => `module.exports = '${name}';`;
const tarballs = new Map(
  NAMES.map((name) => [
    name as string,
    tarballOf([
      { path: 'package/package.json', content: JSON.stringify({ name, version: '1.0.0' }) },
      { path: 'package/index.js', content: textOf(name) },
      ...Array.from({ length: FILES }, (_, n) => ({ path: `package/lib/${n}.js`, content: `${name} ${n}`.repeat(50) })),
    ]),
  ]),
);
const WHOLE = Object.fromEntries(NAMES.map((name) => [name, textOf(name)]));

let server: Server;
let url: string;
let folder: string;
/** Delays the answers to some requests. */
let holds: (url: string) => 'all' | 'half' | undefined = () => undefined;
let held = 0;

const answer = (response: ServerResponse, asked: string, body: Buffer): void => {
  const kept = holds(asked);
  if (kept !== undefined) held++;
  if (kept === 'all') return;
  response.writeHead(200, { 'content-length': String(body.length) });
  if (kept === 'half') response.write(body.subarray(0, body.length / 2));
  else response.end(body);
};

beforeAll(async () => {
  server = createServer((request, response) => {
    const asked = request.url ?? '';
    const name = asked.split('/')[1] ?? '';
    const tarball = tarballs.get(name);
    if (!tarball) return void response.writeHead(404).end();
    if (asked.endsWith('.tgz')) return answer(response, asked, tarball);
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    const dist = { integrity, tarball: `${url}/${name}/1.tgz` };
    const versions = { '1.0.0': { name, version: '1.0.0', dist } };
    answer(response, asked, Buffer.from(JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions })));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  folder = tempDir('killed');
});

afterEach(() => {
  holds = () => undefined;
  held = 0;
  removeDir(folder);
});

interface Installing {
  readonly child: ChildProcess;
  /** What it printed after its start. */
  readonly output: Promise<string>;
  readonly began: Promise<void>;
}

const start = (): Installing => {
  const child = spawn(process.execPath, [PROGRAM, folder, url, ...NAMES], { stdio: ['ignore', 'pipe', 'inherit'] });
  endsWithUs(child);
  let text = '';
  let began = (): void => undefined;
  const beginning = new Promise<void>((resolve) => (began = resolve));
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    if (text.includes('began\n')) began();
  });
  const output = once(child, 'close').then(() => text.replace('began\n', ''));
  return { child, output, began: beginning };
};

const install = async (): Promise<unknown> => JSON.parse(await start().output) as unknown;

/** Kills the process like a power cut of it alone, and waits until its own processes have ended too. */
const kill = async ({ child, output }: Installing): Promise<void> => {
  const own = descendantsOf(child.pid ?? 0);
  child.kill('SIGKILL');
  await output;
  await eventually('the end of its processes', async () => (own.some(isAlive) ? undefined : true), 20_000);
};

const parentOf = (pid: string): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
};
const descendantsOf = (pid: number): readonly number[] => {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(name)] as const);
  const found = [pid];
  for (const one of found) for (const [child, parent] of parents) if (parent === one) found.push(child);
  return found.slice(1);
};
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

/** Every stored package is complete. */
const expectNoHalfPackage = (): void => {
  const contents = path.join(folder, 'content');
  for (const key of existsSync(contents) ? readdirSync(contents).filter((name) => /^[0-9a-f]{64}$/.test(name)) : []) {
    const listed = JSON.parse(readFileSync(path.join(contents, key, 'files.json'), 'utf8')) as [string, number][];
    expect(listed).toHaveLength(FILES + 2);
    for (const [name, bytes] of listed)
      expect(readFileSync(path.join(contents, key, 'files', name))).toHaveLength(bytes);
  }
};

describe('an install whose server is killed', () => {
  it.each<[string, typeof holds]>([
    ['while the registry describes a package', (asked) => (asked === '/c' ? 'all' : undefined)],
    ['before a tarball comes', (asked) => (asked === '/d/1.tgz' ? 'all' : undefined)],
    ['in the middle of a tarball, with others stored', (asked) => (asked === '/f/1.tgz' ? 'half' : undefined)],
    ['in the middle of all tarballs', (asked) => (asked.endsWith('.tgz') ? 'half' : undefined)],
  ])(
    '%s leaves no half package, and the next one succeeds',
    async (_title, holding) => {
      holds = holding;
      const installing = start();
      await eventually('a request that is held', async () => (held > 0 ? true : undefined), 30_000);
      await pause(200);
      await kill(installing);
      expectNoHalfPackage();
      holds = () => undefined;
      expect(await install()).toEqual(WHOLE);
    },
    120_000,
  );

  it('at any moment leaves no half package, and the next one succeeds', async () => {
    const first = start();
    await first.began;
    const begun = performance.now();
    await first.output;
    const takes = performance.now() - begun;
    let finished = 0;
    for (let n = 0; n < 3; n++) {
      removeDir(folder);
      folder = tempDir('killed');
      const installing = start();
      await installing.began;
      await pause(((n + 1) / 4) * takes);
      if (installing.child.exitCode !== null) finished++;
      await kill(installing);
      expectNoHalfPackage();
      expect(await install()).toEqual(WHOLE);
    }
    // Otherwise no install was interrupted.
    expect(finished).toBeLessThan(3);
  }, 240_000);

  it('does no harm to another one that installs the same into the same folder', async () => {
    const [killed, ...others] = [start(), start(), start()];
    await Promise.all([killed, ...others].map((one) => one?.began));
    await pause(300);
    if (killed) await kill(killed);
    expect(await Promise.all(others.map(({ output }) => output.then((text) => JSON.parse(text) as unknown)))).toEqual([
      WHOLE,
      WHOLE,
    ]);
    expectNoHalfPackage();
  }, 120_000);
});
