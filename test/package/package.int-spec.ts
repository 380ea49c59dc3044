import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runNode } from '#test/harness/command-line.js';
import { endsWithUs } from '#test/harness/ends-with-us.js';
import { ROOT } from '#test/harness/paths.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';

const run = promisify(execFile);

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

interface Deployed {
  readonly data: { readonly configured_props: { readonly http: { readonly endpoint_url: string } } };
}

const KEY = 'the-key-of-this-test';

/** What `npm pack` makes of the build, in a folder without the repository (docs/adr/0092-the-package.md). */
describe('the package', () => {
  const folder = tempDir('package');
  const project = join(folder, 'project');
  const installed = join(project, 'node_modules/sluice');
  const program = join(installed, 'dist/apps/cli/src/main.js');
  let packed: Packed;
  let server: ChildProcess | undefined;

  beforeAll(async () => {
    // Its own scripts build, which has happened before the tests.
    const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
    const { stdout } = await run('npm', args, { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 });
    [packed] = JSON.parse(stdout) as [Packed];
    mkdirSync(installed, { recursive: true });
    await run('tar', ['-xzf', join(folder, packed.filename), '-C', installed, '--strip-components=1']);
    const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Manifest;
    // As an installation has them. What they need themselves is found beside the place that the link names.
    for (const name of Object.keys(dependencies)) {
      const place = join(project, 'node_modules', name);
      mkdirSync(dirname(place), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules', name), place);
    }
    writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  }, 120_000);

  afterAll(async () => {
    if (server?.exitCode === null && server.kill()) await once(server, 'exit');
    removeDir(folder);
  });

  it('has the bundles, types and licences, and neither sources nor tests', () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/THIRD-PARTY.md']));
    expect(paths.filter((path) => /(?<!\.d)\.ts$|spec|^(test|libs|apps|tools|examples|docs)\//.test(path))).toEqual([]);
    // Threads, which are found by their path (libs/engines/embedded/writer/writer.ts).
    const writer = 'libs/engines/embedded/writer';
    const threads = readdirSync(join(ROOT, 'libs/engines/embedded'), { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!spec)\.ts$/.test(file))
      .map((file) => readFileSync(join(ROOT, 'libs/engines/embedded', file), 'utf8'))
      .flatMap((text) => [...text.matchAll(/\bcompiled\('([^']+)'\)/g)])
      .map(([, path = '']) => join('dist', writer, path));
    expect(threads.length).toBeGreaterThan(1);
    expect(paths).toEqual(expect.arrayContaining(threads));
    expect(packed.unpackedSize).toBeLessThan(60 * 1024 * 1024);
    expect(packed.filename).toMatch(/^sluice-\d+\.\d+\.\d+\.tgz$/);
  });

  it('tells its version and its commands', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
    const told = await runNode([program, '--version'], {}, project);
    expect(told).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
    for (const name of ['list', 'workflows', 'config', 'verify', 'serve']) {
      const { status, stdout, stderr } = await runNode([program, name, '--help'], {}, project);
      expect({ status, stderr, isHelp: stdout.startsWith('Usage: sluice') }).toEqual({
        status: 0,
        stderr: '',
        isHelp: true,
      });
    }
  }, 60_000);

  it('1: serves in an empty folder, and runs a component there', async () => {
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    server = spawn(process.execPath, [program, 'serve'], {
      cwd: empty,
      env: { PATH: process.env.PATH, SLUICE_PORT: '0', SLUICE_API_KEY: KEY },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    endsWithUs(server);
    let output = '';
    for (const stream of [server.stdout, server.stderr])
      stream?.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-8_000)));
    const url = await ready(() => output);
    const deployed = await fetch(`${url}/v1/sources`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ component_code: CODE, file_name: 'orders.ts' }),
    });
    const { data } = (await deployed.json()) as Deployed;
    expect(deployed.status).toBe(200);
    expect(existsSync(join(empty, '.sluice/secret.key'))).toBe(true);
    const answer = await fetch(data.configured_props.http.endpoint_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ amount: 25 }),
    });
    expect([answer.status, await answer.text()]).toEqual([202, '25.0 is large']);
    const told = await runNode(
      [program, 'list', '--json', '--url', url],
      { PATH: process.env.PATH, SLUICE_API_KEY: KEY },
      empty,
    );
    expect(JSON.parse(told.stdout)).toMatchObject({ data: [{ name: 'orders' }] });
  }, 120_000);

  // docs/how-to/test-a-component.md
  it('writes a component, and runs its test', async () => {
    const env = { PATH: process.env.PATH };
    const made = await runNode([program, 'init', 'source', 'made', '--http', '--ts'], env, project);
    expect(made).toMatchObject({ status: 0, stdout: expect.stringContaining('wrote made/made.ts') });
    const told = await runNode([program, 'test', 'made'], env, project);
    expect(told).toMatchObject({ status: 0, stdout: expect.stringContaining('1 passed, 0 failed') });
  }, 120_000);

  // docs/reference/component-model.md#define-wrappers
  it('62: types components where it is installed', async () => {
    writeFileSync(join(project, 'orders.ts'), CODE);
    writeFileSync(join(project, 'wrong.ts'), CODE.replace('this.smallest;', 'this.smalest;'));
    const compiled = async (file: string): Promise<string> => {
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext'];
      return (await runNode([tsc, ...options, file], { PATH: process.env.PATH }, project)).stdout;
    };
    expect(await compiled('orders.ts')).toBe('');
    expect(await compiled('wrong.ts')).toMatch(/wrong\.ts\(\d+,\d+\): error TS\d+: Property 'smalest' does not exist/);
  }, 120_000);
});

const CODE = `
import { defineSource } from 'sluice';

export default defineSource({
  name: 'Orders',
  props: {
    http: { type: '$.interface.http', customResponse: true },
    smallest: { type: 'integer', default: 20 },
  },
  methods: {
    isLarge(amount: number) {
      return amount >= this.smallest;
    },
  },
  async run(event) {
    const text = \`\${event.body.amount.toFixed(1)} is \${this.isLarge(event.body.amount) ? 'large' : 'small'}\`;
    await this.http.respond({ status: 202, body: text });
  },
});
`;

/** Resolves with the address of a server, by its output, once its `/healthz` answers 200. */
const ready = async (output: () => string): Promise<string> => {
  const until = Date.now() + 60_000;
  while (Date.now() < until) {
    const [url] = /http:\/\/(?:127\.0\.0\.1|localhost):\d+/.exec(output()) ?? [];
    const status = url && (await fetch(`${url}/healthz`).catch(() => undefined))?.status;
    if (url && status === 200) return url;
    await pause(50);
  }
  throw new Error(`the server does not answer:\n${output()}`);
};
